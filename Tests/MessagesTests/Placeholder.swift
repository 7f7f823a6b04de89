/// Placeholder until the module is written.
enum MessagesTestsPlaceholder {}

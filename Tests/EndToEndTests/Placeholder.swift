/// Placeholder until the module is written.
enum EndToEndTestsPlaceholder {}

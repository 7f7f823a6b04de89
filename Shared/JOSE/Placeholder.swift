/// Placeholder until the module is written.
enum JOSEPlaceholder {}

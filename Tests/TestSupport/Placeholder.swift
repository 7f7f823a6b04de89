/// Placeholder until the module is written.
enum TestSupportPlaceholder {}

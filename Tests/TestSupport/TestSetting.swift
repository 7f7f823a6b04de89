import Glibc

/// A setting of the test run, from the environment.
public enum TestSetting {
    /// A setting that is not there.
    public struct Missing: Error, CustomStringConvertible {
        /// Which one, and how to get it.
        public let description: String
    }

    /// The value of `name`, or an error that says how to start the services: a test without them fails, never skips.
    public static func required(_ name: String) throws -> String {
        guard let value = getenv(name) else {
            throw Missing(
                description: "\(name) is not set: run eval \"$(infra/scripts/test-services up)\" before the tests")
        }
        return String(cString: value)
    }
}

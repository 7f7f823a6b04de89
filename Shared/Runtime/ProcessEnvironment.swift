import Glibc

/// The environment of the process.
public enum ProcessEnvironment {
    /// All variables.
    public static var all: [String: String] {
        var result: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let line = String(cString: text)
            if let equals = line.firstIndex(of: "=") {
                result[String(line[..<equals])] = String(line[line.index(after: equals)...])
            }
            entry += 1
        }
        return result
    }
}

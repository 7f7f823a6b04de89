import Glibc
import TestSupport

/// Where things are: the built executables, the clone, a folder for everything a deployment writes.
enum Places {
    /// Something that should be there and is not.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// The folder of the test program, where SwiftPM puts the executables too.
    static func programs() throws -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard count > 0 else { throw Missing(description: "/proc/self/exe cannot be read") }
        // The test program is a file of this folder, or of a bundle in it.
        let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var folder = parent(path)
        while folder.count > 1 {
            if access(folder + "/purser-gateway", X_OK) == 0 { return folder }
            folder = parent(folder)
        }
        throw Missing(description: "no purser-gateway beside \(path): run swift build first")
    }

    /// A built executable.
    static func program(_ name: String) throws -> String {
        let path = try programs() + "/" + name
        guard access(path, X_OK) == 0 else { throw Missing(description: "\(path) is not built") }
        return path
    }

    /// The clone: the folder above the build that has Package.swift.
    static func root() throws -> String {
        var folder = try programs()
        while folder.count > 1 {
            if access(folder + "/Package.swift", R_OK) == 0 { return folder }
            folder = parent(folder)
        }
        throw Missing(description: "no Package.swift above the executables")
    }

    /// A new folder of this run, mode 0700.
    static func makeFolder(_ name: String) throws -> String {
        let path = "/tmp/purser-e2e-\(getpid())-\(name)-\(UInt32.random(in: 0 ... .max))"
        try makeFolder(at: path)
        return path
    }

    /// A folder at `path`, mode 0700; fine if it is there.
    static func makeFolder(at path: String) throws {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Missing(description: "cannot make \(path)") }
    }

    /// Where logs go: those of the test run are searched for secrets afterwards.
    static func logFolder(_ deployment: String) throws -> String {
        guard let state = getenv("PURSER_TEST_STATE") else { return try makeFolder("logs-" + deployment) }
        let path = String(cString: state) + "/logs"
        try makeFolder(at: path)
        try makeFolder(at: "\(path)/e2e-\(deployment)-\(getpid())")
        return "\(path)/e2e-\(deployment)-\(getpid())"
    }

    private static func parent(_ path: String) -> String {
        path.split(separator: "/").dropLast().reduce(into: "") { $0 += "/" + $1 }
    }
}

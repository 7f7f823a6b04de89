import AppStoreSimulation
import Crypto
import Glibc

/// Apple's library for Python, as it comes from PyPI, verifying the same transactions under the same root.
final class AppleLibrary {
    /// It cannot be measured, for a reason that is not ours.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    private let python: String
    private let folder: String
    /// What it calls itself; known after the first run.
    private(set) var version = "?"

    /// `python` has the library; `folder` takes the inputs.
    init(python: String, folder: String) {
        self.python = python
        self.folder = folder + "/apple-library"
    }

    /// Writes the inputs.
    func prepare(_ authority: SimulatedAuthority, _ transactions: [[UInt8]], bundleID: String) throws {
        mkdir(folder, 0o700)
        try write(authority.root.der, "root.der")
        try write(Array(transactions.joined(separator: [UInt8(ascii: "\n")])), "transactions")
        try write(Array(bundleID.utf8), "bundle-id")
    }

    /// Verifications a second of one process on one core, measured by itself after it has warmed up.
    func rate() throws(Unusable) -> Double {
        let script = getenv("PURSER_DRILL_SCRIPTS").map { String(cString: $0) }
        guard let script else { throw Unusable(description: "PURSER_DRILL_SCRIPTS is not set") }
        let words = [python, "\(script)/apple-library.py", folder].map { Shell.quoted($0) }
        guard let output = Shell.output(words.joined(separator: " ")) else {
            throw Unusable(description: "apple-library.py failed, its reason is above")
        }
        // version, verifications a second
        let fields = output.split(whereSeparator: \.isWhitespace)
        guard fields.count == 2, let rate = Double(fields[1]), rate > 0 else {
            throw Unusable(description: "apple-library.py said \(output)")
        }
        version = String(fields[0])
        return rate
    }

    private func write(_ bytes: [UInt8], _ name: String) throws {
        let file = open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Unusable(description: "\(folder)/\(name) cannot be written") }
        defer { close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw Unusable(description: "\(folder)/\(name) cannot be written")
        }
    }
}

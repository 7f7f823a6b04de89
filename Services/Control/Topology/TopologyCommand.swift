import Crypto
import FoundationEssentials
import JOSE
import Messages

/// `purser topology [--vhost NAME] [--users FILE]`: prints the broker's definitions, for `rabbitmqctl import_definitions`.
///
/// `FILE` has a line `user:password` for each service; users it does not name are left out with their permissions.
///
/// `purser topology diff [--vhost NAME] [--administrator NAME]… FILE|-`: compares what a broker exported with that.
enum TopologyCommand {
    static let usage = """
        usage: purser topology [--vhost NAME] [--users FILE]
               purser topology diff [--vhost NAME] [--administrator NAME]… FILE|-
        """
    /// An export of a broker that serves a hundred virtual hosts like ours has 2 MB; more is not ours to judge.
    static let largestExport = 32 << 20

    static func run(arguments: [String], output: (String) -> Void) -> Int32 {
        if arguments.first == "diff" { return compare(arguments: arguments.dropFirst(), output: output) }
        var virtualHost = "/"
        var passwords: [String: String] = [:]
        var rest = arguments[...]
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else { return wrongUsage(output) }
            switch option {
            case "--vhost": virtualHost = value
            case "--users":
                switch readUsers(value) {
                case .success(let users): passwords = users
                case .failure(let problem):
                    output(problem.sentence)
                    return 2
                }
            default: return wrongUsage(output)
            }
        }
        do {
            let hashes = try passwords.mapValues(passwordHash)
            let definitions = try Topology.definitions(virtualHost: virtualHost, passwordHashes: hashes)
            output(String(decoding: definitions, as: UTF8.self))
            return 0
        } catch {
            output("the definitions cannot be made: \(type(of: error))")
            return 1
        }
    }

    /// Exit code: 0 the same, 1 differences, 2 wrong usage or file.
    private static func compare(arguments: ArraySlice<String>, output: (String) -> Void) -> Int32 {
        var virtualHost = "/"
        var administrators: Set<String> = []
        var path: String?
        var rest = arguments
        while let word = rest.popFirst() {
            switch word {
            case "--vhost":
                guard let name = rest.popFirst() else { return wrongUsage(output) }
                virtualHost = name
            case "--administrator":
                guard let name = rest.popFirst() else { return wrongUsage(output) }
                administrators.insert(name)
            default:
                guard path == nil, word == "-" || !word.hasPrefix("-") else { return wrongUsage(output) }
                path = word
            }
        }
        guard let path else { return wrongUsage(output) }
        guard let exported = SignedFile.read(path, limit: largestExport), exported.count <= largestExport else {
            output("\(path) cannot be read, or is larger than \(largestExport >> 20) MiB")
            return 2
        }
        do {
            let lines = try TopologyDifference.lines(
                exported: exported, host: virtualHost, administrators: administrators)
            for line in lines { output(line) }
            output(
                lines.isEmpty ? "the broker has what the source says" : "\(lines.count) difference(s) to the source")
            return lines.isEmpty ? 0 : 1
        } catch {
            output("\(path) is no export of a broker's definitions (rabbitmqctl export_definitions)")
            return 2
        }
    }

    private static func wrongUsage(_ output: (String) -> Void) -> Int32 {
        output(usage)
        return 2
    }

    struct BadUsers: Error { let sentence: String }

    static func readUsers(_ path: String) -> Result<[String: String], BadUsers> {
        guard let data = try? Data(contentsOf: URL(filePath: path)), let text = String(validating: data, as: UTF8.self)
        else { return .failure(BadUsers(sentence: "\(path) cannot be read")) }
        let known = Set(Topology.accesses.map(\.user))
        var users: [String: String] = [:]
        for (number, line) in text.split(separator: "\n").enumerated() {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2, !parts[1].isEmpty else {
                return .failure(BadUsers(sentence: "\(path):\(number + 1): write user:password"))
            }
            guard known.contains(parts[0]) else {
                return .failure(
                    BadUsers(
                        sentence: "\(path):\(number + 1): no service is called \(parts[0]); there are "
                            + known.sorted().joined(separator: ", ")))
            }
            users[parts[0]] = parts[1]
        }
        return .success(users)
    }

    /// RabbitMQ's salted hash: base64 of 4 random bytes and SHA-256 over them and the password
    /// (https://www.rabbitmq.com/docs/passwords#computing-password-hash).
    static func passwordHash(_ password: String) throws -> String {
        let salt = try RandomBytes.generate(4)
        return Base64.encode(salt + SHA256.hash(salt + Array(password.utf8)))
    }
}

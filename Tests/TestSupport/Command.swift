import Glibc

/// Runs a program and waits for it. Blocking: own threads only.
public enum Command {
    /// What a program left behind.
    public struct Outcome: Sendable {
        /// Its exit status, or 128 + signal.
        public let status: Int32
        /// Standard output and standard error together.
        public let output: String
    }

    /// A program that could not be run or ended badly.
    public struct Failure: Error, CustomStringConvertible {
        /// The program, its arguments and what it printed.
        public let description: String
    }

    /// Runs `program` (a path) with `arguments`; throws unless it exits with 0.
    @discardableResult
    public static func run(
        _ program: String, _ arguments: [String], environment: [String: String]? = nil
    ) throws -> String {
        let outcome = try capture(program, arguments, environment: environment)
        guard outcome.status == 0 else {
            let line = ([program] + arguments).joined(separator: " ")
            throw Failure(description: "\(line) exited with \(outcome.status): \(outcome.output)")
        }
        return outcome.output
    }

    /// Runs `program` (a path) with `arguments` and reports how it ended.
    ///
    /// - Parameter environment: exactly these variables, and PATH; nil hands on our own. Secrets belong here, never into
    ///   `arguments`, which everybody on the machine can read.
    public static func capture(
        _ program: String, _ arguments: [String], environment: [String: String]? = nil
    ) throws -> Outcome {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(description: "no pipe for \(program)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var variables: [UnsafeMutablePointer<CChar>?] =
            (environment ?? [:]).map { strdup("\($0.key)=\($0.value)") } + [strdup("PATH=/usr/bin:/bin"), nil]
        defer { for variable in variables { free(variable) } }
        var child = pid_t()
        let spawned = SpawnAttributes.withNoBlockedSignals { attributes in
            guard environment != nil else {
                return posix_spawn(&child, program, &actions, attributes, &words, environ)
            }
            return posix_spawn(&child, program, &actions, attributes, &words, &variables)
        }
        close(ends[1])
        defer { close(ends[0]) }
        guard spawned == 0 else { throw Failure(description: "cannot start \(program): error \(spawned)") }
        let output = readToEnd(ends[0])
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        return Outcome(status: signal == 0 ? (status >> 8) & 0xff : 128 + signal, output: output)
    }

    private static func readToEnd(_ file: Int32) -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(file, &chunk, chunk.count)
            if count > 0 {
                bytes.append(contentsOf: chunk.prefix(count))
            } else if count == 0 || errno != EINTR {
                return String(decoding: bytes, as: UTF8.self)
            }
        }
    }
}

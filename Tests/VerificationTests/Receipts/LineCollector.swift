import Observability
import Synchronization

/// Keeps the lines that are logged.
final class LineCollector: Sendable {
    private let collected = Mutex<[String]>([])

    /// Writes here.
    var logger: Logger {
        Logger(service: "test", level: .debug) { [collected = self] bytes in
            collected.collected.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
    }

    var text: String { collected.withLock { $0.joined() } }
}

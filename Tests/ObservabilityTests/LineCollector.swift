import Synchronization

/// Keeps the lines a logger wrote.
final class LineCollector: Sendable {
    private let collected = Mutex<[String]>([])

    func append(_ bytes: [UInt8]) {
        collected.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
    }

    var lines: [String] { collected.withLock { $0 } }
    var text: String { lines.joined() }
}

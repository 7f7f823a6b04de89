import Synchronization

/// What all receipts that are being verified may take, whether they came over HTTP or over a socket: a receipt may be two
/// hundred times as large as a signed transaction. Any thread.
final class ReceiptShare: Sendable {
    private struct Used {
        var count = 0
        var bytes = 0
    }

    private let most: Int
    private let mostBytes: Int
    private let used = Mutex(Used())

    /// Ten of the largest, some two thousand usual ones: more than wait at any time when all is well.
    static let usualBytes = 16 << 20

    /// A share of `most` receipts with `mostBytes` of text.
    init(most: Int, mostBytes: Int = ReceiptShare.usualBytes) {
        self.most = most
        self.mostBytes = mostBytes
    }

    /// Takes a place for a receipt of so many bytes; false if there is none.
    func take(_ bytes: Int) -> Bool {
        used.withLock {
            guard $0.count < most, bytes <= mostBytes - $0.bytes else { return false }
            $0.count += 1
            $0.bytes += bytes
            return true
        }
    }

    /// It is answered.
    func leave(_ bytes: Int) {
        used.withLock {
            $0.count -= 1
            $0.bytes -= bytes
        }
    }
}

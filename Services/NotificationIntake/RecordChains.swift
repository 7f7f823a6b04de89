import Crypto
import Messages
import Observability
import Pipeline
import Postgres
import Trust

/// Keeps what Verification was told about chains of certificates (`intake.revocations`): what a revoked one signed is
/// refused here too, by what stands in this service's own schema.
struct RecordChains: Handler {
    private let table = ChainTable(schema: IntakeProgram.name)
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        var outcomes: [Outcome] = []
        // One by one: they are a few a day.
        for incoming in batch {
            guard let checked = incoming.read(ChainChecked.self), checked.isStorable, let id = Hex.decode(checked.chain)
            else {
                outcomes.append(.park(reason: Incoming.unreadable))
                continue
            }
            let isKept = try table.record(checked, id: id, in: &transaction)
            if isKept, checked.revokedAt != nil {
                logger.error(
                    "notifications signed by a revoked chain of certificates are refused",
                    [
                        "correlation.id": .string(incoming.header.correlationID),
                        "certificate.serial": .string(checked.serialNumber), "chain": .string(checked.chain),
                    ])
            }
            outcomes.append(.done(facts: [], reply: nil))
        }
        return outcomes
    }
}

extension ChainChecked {
    /// Bytes of a text at most; longer ones are no certificate's.
    private static let longestText = 1_024

    /// Whether it can be kept as it is: a chain's name, and texts that PostgreSQL takes.
    fileprivate var isStorable: Bool {
        chain.utf8.count == 2 * SHA256.byteCount && (reason == nil || revokedAt != nil)
            && [subject, serialNumber].allSatisfy { $0.utf8.count <= Self.longestText && !$0.utf8.contains(0) }
    }
}

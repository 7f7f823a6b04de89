import AppStore
import Crypto
import Messages
import Pipeline
import Postgres
import Trust

/// The tables of what Apple told. Everything is set-based: a constant number of statements a batch.
struct NotificationStore {
    /// A genuine notification and the message it came in.
    struct Arrival {
        let notification: GenuineNotification
        let message: MessageHeader
    }

    /// Refusals kept at most; the oldest go first.
    static let defaultQuarantineLimit: Int64 = 20_000
    /// Bytes kept of what Apple signed but is not for us as it is (a bundle id we do not know, say): all of what Apple
    /// usually sends, so that it can be handed in again. 20,000 of them are 1.3 GB, and only Apple can make them.
    static let authenticLimit = 64 << 10

    private let quarantineLimit: Int64
    private let consumption: ConsumptionSchedule
    private var headers = HeaderTable(schema: IntakeProgram.name)

    /// - Parameters:
    ///   - quarantineLimit: refusals kept at most.
    ///   - consumption: the clock of Apple's questions about the use of a purchase.
    init(
        quarantineLimit: Int64 = Self.defaultQuarantineLimit, consumption: ConsumptionSchedule = ConsumptionSchedule()
    ) {
        self.quarantineLimit = quarantineLimit
        self.consumption = consumption
    }

    /// Stores what is new, counts what is repeated, and keeps what was refused.
    ///
    /// - Returns: the messages whose notification was new.
    mutating func save(
        _ arrivals: [Arrival], _ refusals: [Refusal], in transaction: inout Transaction
    ) throws -> Set<MessageID> {
        if !refusals.isEmpty {
            transaction.enqueue(Self.insertRefusals, Self.values(of: refusals))
            transaction.enqueue(Self.capQuarantine, [.int8(quarantineLimit)])
        }
        guard !arrivals.isEmpty else { return [] }
        // The first of a batch is stored; rows always in the order of their keys, so that lanes never wait in a circle.
        let byKey = Dictionary(grouping: arrivals) { $0.notification.factKey }
        let firsts = byKey.sorted { $0.key < $1.key }.compactMap(\.value.first)
        let rows = try headers.rows(of: firsts.map(\.notification.evidence.headerSegment), in: &transaction)
        let new = Set(
            try transaction.query(Self.insert, Self.values(of: firsts, rows)).map {
                MessageID(UUIDText.format(try $0.uuid("message")))
            })
        ConsumptionStore.insert(
            firsts.filter { new.contains($0.message.id) }, consumption, in: &transaction)
        let repetitions = byKey.sorted { $0.key < $1.key }.compactMap { Repetition($0.value, new) }
        if !repetitions.isEmpty { transaction.enqueue(Self.count, repetitions.values) }
        return new
    }

    private static let insert = """
        INSERT INTO intake.notifications (environment, notification_uuid, app, type, subtype, is_known, transaction_id,
            original_transaction_id, product_id, subscription_status, signed_date, received_at, header, payload,
            signature, message, last_message, correlation_id)
        SELECT environment, notification_uuid, app, type, subtype, is_known, transaction_id, original_transaction_id,
            product_id, subscription_status, signed_date, to_timestamp(received_at / 1000.0), header, payload, signature,
            message, message, correlation_id
        FROM unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[], $8::text[],
            $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bytea[], $15::bytea[],
            $16::uuid[], $17::text[]) WITH ORDINALITY
            AS given(environment, notification_uuid, app, type, subtype, is_known, transaction_id,
                original_transaction_id, product_id, subscription_status, signed_date, received_at, header, payload,
                signature, message, correlation_id, place)
        ORDER BY place ON CONFLICT (environment, notification_uuid) DO NOTHING RETURNING message
        """
    /// The message that stored it, and the last one that was counted, come again when they are redelivered.
    private static let count = """
        UPDATE intake.notifications n SET times_received = n.times_received + g.times,
            last_received_at = clock_timestamp(), last_message = g.message
        FROM (SELECT given.* FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::uuid[]) WITH ORDINALITY
                AS given(environment, notification_uuid, times, message, place)
            JOIN intake.notifications l USING (environment, notification_uuid) ORDER BY place FOR UPDATE OF l) g
        WHERE n.environment = g.environment AND n.notification_uuid = g.notification_uuid
            AND g.message NOT IN (n.message, n.last_message)
        """
    private static let insertRefusals = """
        INSERT INTO intake.quarantine (message, app, reason, "check", inside, evidence_hash, excerpt, correlation_id)
        SELECT DISTINCT ON (message) *
        FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::text[], $8::text[])
            AS given(message, app, reason, "check", inside, evidence_hash, excerpt, correlation_id)
        ORDER BY message ON CONFLICT DO NOTHING
        """
    private static let capQuarantine = """
        DELETE FROM intake.quarantine
        WHERE sequence <= (SELECT max(sequence) FROM intake.quarantine) - $1::bigint
        """

    private static func values(of arrivals: [Arrival], _ headers: [Int64?]) -> [SQLValue] {
        let all = arrivals.map(\.notification)
        return [
            .textArray(all.map(\.environment.rawValue)), .uuidArray(all.map(\.uuid)),
            .textArray(all.map(\.app.rawValue)),
            .textArray(all.map(\.told.notificationType)), .textArray(all.map(\.told.subtype)),
            .boolArray(all.map(\.isKnown)), .textArray(all.map { $0.told.transaction?.transactionID.rawValue }),
            .textArray(
                all.map {
                    ($0.told.transaction?.originalTransactionID ?? $0.told.renewal?.originalTransactionID)?.rawValue
                }),
            .textArray(all.map { ($0.told.transaction?.productID ?? $0.told.renewal?.productID)?.rawValue }),
            .int8Array(all.map(\.told.subscriptionStatus)), .int8Array(all.map(\.told.signedDate)),
            .int8Array(arrivals.map(\.message.occurredAt)), .int8Array(headers),
            .bytesArray(all.map(\.evidence.payload)),
            .bytesArray(all.map(\.evidence.signature)),
            .uuidArray(arrivals.map { UUIDText.parse($0.message.id.rawValue) }),
            .textArray(arrivals.map(\.message.correlationID)),
        ]
    }

    private static func values(of refusals: [Refusal]) -> [SQLValue] {
        [
            .uuidArray(refusals.map { UUIDText.parse($0.message.id.rawValue) }), .textArray(refusals.map(\.app)),
            .textArray(refusals.map(\.reason)), .textArray(refusals.map(\.check)), .textArray(refusals.map(\.inside)),
            .bytesArray(refusals.map(\.evidenceHash)), .textArray(refusals.map(\.excerpt)),
            .textArray(refusals.map(\.message.correlationID)),
        ]
    }
}

/// Messages of a batch that brought one notification again.
private struct Repetition {
    let notification: GenuineNotification
    let times: Int64
    let last: MessageID

    /// Nil if none of `arrivals`, all of one notification, is a repetition.
    init?(_ arrivals: [NotificationStore.Arrival], _ new: Set<MessageID>) {
        let repeated = Set(arrivals.map(\.message.id)).subtracting(new)
        guard let last = arrivals.map(\.message.id).last(where: repeated.contains), let first = arrivals.first else {
            return nil
        }
        notification = first.notification
        times = Int64(repeated.count)
        self.last = last
    }
}

extension [Repetition] {
    fileprivate var values: [SQLValue] {
        [
            .textArray(map(\.notification.environment.rawValue)), .uuidArray(map(\.notification.uuid)),
            .int8Array(map(\.times)), .uuidArray(map { UUIDText.parse($0.last.rawValue) }),
        ]
    }
}

import AppStore
import Crypto
import LegacyReceipts
import Messages
import Observability
import Pipeline
import Postgres
import Reloading
import Trust

/// Turns `purchase.submitted`, and `transaction.received`, into `purchase.verified`, or into a refusal told to the caller.
///
/// All cryptography happens before the first statement, so the transaction is as short as its inserts. A verdict is
/// always computed anew, also for a redelivered message; what was published before is recalled by the lane.
struct VerifyPurchases: Handler {
    private var verifier: SignedDataVerifier
    private var receipts: ReceiptVerifier
    private var follower: Follower<TrustSettings>?
    private var store: EvidenceStore
    private var chains: ChainWatch
    private var erased: ErasedUsers
    private let canAskApple: Bool
    private let instruments: VerificationMetrics
    private let logger: Logger
    private let now: @Sendable () -> Int64

    init(
        verifier: SignedDataVerifier, receipts: ReceiptVerifier, metrics: Metrics, logger: Logger,
        revocation: RevocationPolicy, follower: Follower<TrustSettings>? = nil, canAskApple: Bool = false,
        store: EvidenceStore = EvidenceStore(), erased: ErasedUsers = ErasedUsers(),
        now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }
    ) {
        self.verifier = verifier
        self.receipts = receipts
        self.follower = follower
        self.store = store
        self.erased = erased
        self.canAskApple = canAskApple
        chains = ChainWatch(revocation, service: VerificationProgram.name, metrics: metrics)
        self.logger = logger
        self.now = now
        instruments = VerificationMetrics(metrics)
    }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        let time = now()
        followApps()
        var verdicts: [(PurchaseSubmitted, Verdict)?] = []
        for incoming in batch {
            let submission = PurchaseSubmitted(incoming)?.storable
            verdicts.append(submission.map { ($0, judge($0, time)) })
        }
        try erased.refresh(in: &transaction)
        for place in verdicts.indices {
            guard let (submission, verdict) = verdicts[place] else { continue }
            verdicts[place] = (erased.strip(submission, at: batch[place].header.occurredAt), verdict)
        }
        let requests = try chains.look(at: sightings(verdicts, batch), now: time, in: &transaction)
        var evidence: [Evidence] = []
        var receipts: [ReceiptEvidence] = []
        var refusals: [Refusal] = []
        var open: [PendingReceipt] = []
        var outcomes: [Outcome] = []
        for (judged, incoming) in zip(verdicts, batch) {
            guard let (submission, alone) = judged else {
                outcomes.append(.park(reason: Incoming.unreadable))
                continue
            }
            let verdict = alone.considering(chains, now: time)
            let decided = try outcome(of: verdict, submission, incoming.header, time)
            outcomes.append(decided.telling(requests[incoming.header.id] ?? []))
            record(verdict, submission, incoming.header, &evidence, &refusals)
            switch verdict {
            case .receipt(let receipt, let transactions):
                receipts.append(
                    ReceiptEvidence(
                        receipt: receipt, transactions: transactions, app: submission.app,
                        submitter: submission.userID, cause: incoming.header))
            case .unjudged(let container, _):
                open.append(PendingReceipt(submission: incoming.header.id, container: container))
            default: break
            }
        }
        ReceiptStore.save(receipts, in: &transaction)
        ReceiptCheckTable.keep(open, in: &transaction)
        try store.save(evidence, refusals, in: &transaction)
        return outcomes
    }

    /// Apps that were added or changed are known from the next batch on.
    private mutating func followApps() {
        guard let trust = follower?.changed(), let verifier = try? trust.verifier(),
            let receipts = try? trust.receiptVerifier()
        else { return }
        (self.verifier, self.receipts) = (verifier, receipts)
    }

    /// The chains that signed what is genuine, each with its message.
    private func sightings(
        _ verdicts: [(PurchaseSubmitted, Verdict)?], _ batch: [Incoming]
    ) -> [ChainWatch.Sighting] {
        zip(verdicts, batch).compactMap { judged, incoming in
            guard case .genuine(let verified, _) = judged?.1 else { return nil }
            return ChainWatch.Sighting(verified.signer.chain, incoming.header)
        }
    }

    private mutating func judge(_ submission: PurchaseSubmitted, _ time: Int64) -> Verdict {
        let began = ContinuousClock.now
        let verdict =
            if let receipt = submission.receipt {
                Verdict.ofReceipt(
                    receipt, product: submission.productID ?? ProductID(""), for: submission.app, by: receipts,
                    or: &verifier, canAskApple: canAskApple, now: time)
            } else {
                Verdict.of(submission.signedTransaction, for: submission.app, by: &verifier, now: time)
            }
        instruments.seconds.observe(began.duration(to: .now))
        return verdict
    }

    private func outcome(
        of verdict: Verdict, _ submission: PurchaseSubmitted, _ header: MessageHeader, _ time: Int64
    ) throws -> Outcome {
        switch verdict {
        case .genuine(let verified, let purchase):
            instruments.note(verified.signer, now: time)
            return .done(facts: [try fact(submission, [purchase], header, time)], reply: nil)
        case .receipt(_, let purchases):
            return .done(facts: [try fact(submission, purchases, header, time)], reply: nil)
        case .unjudged(_, let reason):
            let request = ReceiptCheckRequested(
                submission, submission: header.id, at: header.occurredAt, reason: reason)
            let fact = try Fact(
                request, key: header.id.rawValue, app: submission.app, environment: nil, causedBy: header,
                occurredAt: time)
            return .done(facts: [fact], reply: nil)
        case .refused(let code, let reason, let event):
            instruments.refused(reason).increment()
            logger.info(
                "submission refused",
                [
                    "correlation.id": .string(header.correlationID), "app": .string(submission.app.rawValue),
                    "reason": .string(reason),
                ])
            let answer = PurchaseAnswered(
                status: .refused, code: code, reason: reason, mayFinish: false, securityEvent: event)
            return .done(facts: [], reply: try Reply(answer))
        case .later(let reason):
            instruments.postponed.increment()
            // Most often a wrong clock, here or at Apple: nobody's purchase is lost by that, but somebody must look.
            logger.error(
                "a submission cannot be judged now; is this machine's clock right, do Apple's responders answer?",
                [
                    "correlation.id": .string(header.correlationID), "reason": .string(reason),
                ])
            let answer = PurchaseAnswered(status: .pending, code: .purchasePending, reason: reason, mayFinish: false)
            return .retry(
                after: RetryPolicy.delay(attempt: header.attempt), reason: reason, isOutage: true,
                reply: try Reply(answer))
        case .unidentified:
            instruments.refused("app_unidentified").increment()
            return .park(reason: "verification.app_unidentified")
        }
    }

    /// One fact for everything that one submission brought.
    private func fact(
        _ submission: PurchaseSubmitted, _ purchases: [VerifiedTransaction], _ header: MessageHeader, _ time: Int64
    ) throws -> Fact {
        instruments.verified.increment()
        let first = purchases[0]
        var body = PurchaseVerified(
            app: submission.app, userID: submission.userID, orderNumber: submission.orderNumber, transaction: first,
            expectation: submission.expectation, identities: submission.identities)
        body.submittedAt = header.occurredAt
        return try Fact(body, others: Array(purchases.dropFirst()), causedBy: header, occurredAt: time)
    }

    private func record(
        _ verdict: Verdict, _ submission: PurchaseSubmitted, _ header: MessageHeader, _ evidence: inout [Evidence],
        _ refusals: inout [Refusal]
    ) {
        switch verdict {
        case .genuine(let verified, let purchase):
            evidence.append(
                Evidence(
                    transaction: purchase, app: submission.app, headerSegment: verified.evidence.headerSegment,
                    payload: verified.evidence.payload, payloadHash: verified.evidence.payloadSHA256,
                    signature: verified.evidence.signature, submitter: submission.userID,
                    orderNumber: submission.orderNumber, cause: header))
        case .refused(_, let reason, _):
            let text = submission.receipt ?? submission.signedTransaction
            refusals.append(
                Refusal(
                    app: submission.app, submitter: submission.userID, reason: reason,
                    evidenceHash: SHA256.hash(Array(text.utf8)), excerpt: Excerpt.of(text), cause: header))
        case .receipt, .unjudged, .later, .unidentified: break
        }
    }
}

extension Fact {
    /// That purchases were verified: what is told about them, whoever found it out.
    init(
        _ verified: PurchaseVerified, others: [VerifiedTransaction], causedBy header: MessageHeader, occurredAt: Int64
    ) throws {
        var body = verified
        if !others.isEmpty { body.others = others }
        let first = body.transaction
        try self.init(
            body, key: "\(first.environment.rawValue)/\(first.transactionID)", app: body.app,
            environment: first.environment, causedBy: header, occurredAt: occurredAt)
    }
}

extension PurchaseSubmitted {
    /// What was handed in: by a client, or by reconciliation, which can name neither user nor order.
    fileprivate init?(_ incoming: Incoming) {
        if let submitted = incoming.read(PurchaseSubmitted.self) {
            self = submitted
        } else if let received = incoming.read(TransactionReceived.self) {
            self.init(app: received.app, userID: nil, orderNumber: nil, signedTransaction: received.signedTransaction)
        } else {
            return nil
        }
    }

    /// Bytes of a user id or order number at most, as at the gateway's border and in Granting's keys.
    private static var longestID: Int { 200 }

    /// With texts that PostgreSQL can keep and Granting can have in a key: no NUL, no megabytes. Whoever sends such
    /// cannot be helped, but the purchase can: such an order number names no order, and such a user id is nobody's, so
    /// that the purchase waits unclaimed.
    fileprivate var storable: PurchaseSubmitted {
        var copy = self
        if let text = userID?.rawValue, text.utf8.contains(0) || text.utf8.count > Self.longestID { copy.userID = nil }
        if let text = orderNumber?.rawValue {
            // Ends with a sign that no order number of ours has: what was cut off must not make it another's.
            let kept =
                text.utf8.count <= Self.longestID
                ? text : String(decoding: text.utf8.prefix(Self.longestID), as: UTF8.self) + "\u{FFFD}"
            copy.orderNumber = OrderNumber(kept.replacing("\0", with: "\u{FFFD}"))
        }
        return copy
    }
}

import AppStore
import Apps
import Crypto
import LegacyReceipts
import Messages
import Observability
import Pipeline
import Postgres
import Reloading
import Trust

/// Asks Apple about receipts that could not be judged here (`verification.receipts`), and says `purchase.verified` or
/// tells the caller the refusal, as ``VerifyPurchases`` does.
///
/// One message at a time: an answer may take seconds. The receipt waits in `verification.receipt_checks` until it is
/// decided; whatever Apple answers is judged by the same claims as a receipt that was verified here.
struct CheckReceipts: Handler {
    private var receipts: ReceiptVerifier
    private var follower: Follower<TrustSettings>?
    private var erased: ErasedUsers
    private let settings: VerifyReceiptSettings
    private let asker: ReceiptAsker
    private let secrets: ReceiptSecrets
    /// Apps whose receipts are of the sandbox only: Production is not asked about them first.
    private var sandboxOnly: Set<String>
    private var store = EvidenceStore()
    private let instruments: ReceiptMetrics
    private let logger: Logger
    private let now: @Sendable () -> Int64

    init(
        receipts: ReceiptVerifier, settings: VerifyReceiptSettings, secrets: ReceiptSecrets, apps: [AcceptedApp],
        metrics: Metrics, logger: Logger, follower: Follower<TrustSettings>? = nil,
        erased: ErasedUsers = ErasedUsers(), now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }
    ) {
        self.receipts = receipts
        self.follower = follower
        self.erased = erased
        self.settings = settings
        asker = ReceiptAsker(settings)
        self.secrets = secrets
        sandboxOnly = Self.sandboxOnly(apps)
        instruments = ReceiptMetrics(metrics)
        self.logger = logger
        self.now = now
    }

    private static func sandboxOnly(_ apps: [AcceptedApp]) -> Set<String> {
        Set(apps.filter { !$0.environments.contains(.production) }.map(\.id))
    }

    /// Apps that were added or changed are known from the next batch on.
    private mutating func followApps() {
        guard let trust = follower?.changed(), let receipts = try? trust.receiptVerifier() else { return }
        self.receipts = receipts
        sandboxOnly = Self.sandboxOnly(trust.apps)
    }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        followApps()
        try erased.refresh(in: &transaction)
        var outcomes: [Outcome] = []
        for incoming in batch { outcomes.append(try handle(incoming, in: &transaction)) }
        return outcomes
    }

    private mutating func handle(_ incoming: Incoming, in transaction: inout Transaction) throws -> Outcome {
        guard var request = incoming.read(ReceiptCheckRequested.self) else { return .park(reason: Incoming.unreadable) }
        if erased.isErased(request.userID, of: request.app, at: request.submittedAt ?? incoming.header.occurredAt) {
            request.userID = nil
            request.identities = nil
        }
        switch try ReceiptCheckTable.state(of: request.submission, in: &transaction) {
        // Decided before: its fact is recalled by the lane, its refusal told again.
        case nil: return .done(facts: [], reply: nil)
        case .decided(let answer): return .done(facts: [], reply: try answer.map { try Reply($0) })
        case .pending(let container):
            let verdict = verdict(on: container, request, incoming.header)
            return try outcome(of: verdict, container, request, incoming.header, &transaction)
        }
    }

    /// What was found, and Apple's words if they decide it.
    private typealias Found = (verdict: Verdict, answer: (body: [UInt8], by: AppStoreEnvironment)?, isOutage: Bool)

    private func verdict(on container: [UInt8], _ request: ReceiptCheckRequested, _ header: MessageHeader) -> Found {
        // Switched off while it waited: the verdict is the one of before there was anybody to ask.
        guard settings.isOn else {
            return (.refused(.appleTransactionVerifyFailed, reason: request.reason, .forgedEvidence), nil, false)
        }
        let finding = ask(about: container, request, header)
        switch finding {
        case .open(let trouble):
            tell(trouble, header, request)
            return (.later(reason: trouble.name), nil, trouble.isOutage)
        case .refused(let reason, let event):
            return (.refused(.appleTransactionVerifyFailed, reason: reason, event), nil, false)
        case .answered(let answer, let body, let place):
            let verdict = Verdict.ofAnswer(
                answer, about: container, product: request.productID, for: request.app, by: receipts, now: now())
            return (verdict, (body, place), true)
        }
    }

    private func ask(
        about container: [UInt8], _ request: ReceiptCheckRequested, _ header: MessageHeader
    ) -> ReceiptFinding {
        let secret: Secret?
        do throws(AppsError) {
            secret = try secrets.secret(of: request.app)
        } catch {
            return .open(ReceiptFinding.Trouble("secret_unusable", "\(error)", isOutage: true, isAlarm: true))
        }
        return asker.ask(
            about: container, secret: secret,
            first: sandboxOnly.contains(request.app.rawValue) ? .sandbox : .production, attempt: header.attempt
        ) { status, other in
            instruments.hopped(to: other.rawValue).increment()
            tell(status, retry: other.rawValue.lowercased(), request, header)
        }
    }

    /// The event of document C: a status of Apple's that is no verdict, and what is done about it.
    private func tell(_ status: Int64, retry: String, _ request: ReceiptCheckRequested, _ header: MessageHeader) {
        logger.purchase(
            .verifyError,
            [
                "correlation.id": .string(header.correlationID), "app": .string(request.app.rawValue),
                "product.id": .string(request.productID.rawValue), "status": .int(Int(status)),
                "retry": .string(retry),
            ])
    }

    private func tell(_ trouble: ReceiptFinding.Trouble, _ header: MessageHeader, _ request: ReceiptCheckRequested) {
        if let status = trouble.status { tell(status, retry: "later", request, header) }
        let fields: [String: LogValue] = [
            "correlation.id": .string(header.correlationID), "app": .string(request.app.rawValue),
            "reason": .string(trouble.name), "detail": .string(trouble.detail), "attempt": .int(header.attempt),
        ]
        if trouble.isAlarm {
            logger.error("Apple cannot be asked about receipts until somebody mends the settings", fields)
        } else {
            logger.warning("what Apple says about a receipt could not be found out", fields)
        }
    }

    private mutating func outcome(
        of found: Found, _ container: [UInt8], _ request: ReceiptCheckRequested, _ header: MessageHeader,
        _ transaction: inout Transaction
    ) throws -> Outcome {
        switch found.verdict {
        case .receipt(let receipt, let purchases):
            instruments.asked("verified").increment()
            let evidence = ReceiptEvidence(
                receipt: receipt, transactions: purchases, app: request.app, submitter: request.userID, cause: header)
            ReceiptStore.save([evidence], in: &transaction)
            if let answer = found.answer {
                ReceiptCheckTable.keep(
                    answer: answer.body, by: answer.by, about: receipt.contentSHA256, cause: header, in: &transaction)
            }
            try ReceiptCheckTable.decide(request.submission, answer: nil, in: &transaction)
            var body = PurchaseVerified(
                app: request.app, userID: request.userID, orderNumber: request.orderNumber, transaction: purchases[0],
                expectation: request.expectation, identities: request.identities)
            body.submittedAt = request.submittedAt
            let fact = try Fact(body, others: Array(purchases.dropFirst()), causedBy: header, occurredAt: now())
            return .done(facts: [fact], reply: nil)
        case .refused(let code, let reason, let event):
            let answer = PurchaseAnswered(
                status: .refused, code: code, reason: reason, mayFinish: false, securityEvent: event)
            return try refuse(answer, reason, container, request, header, &transaction)
        case .later(let reason):
            instruments.asked(reason).increment()
            let answer = PurchaseAnswered(status: .pending, code: .purchasePending, reason: reason, mayFinish: false)
            return .retry(
                after: RetryPolicy.delay(attempt: header.attempt), reason: "receipt.\(reason)",
                isOutage: found.isOutage, reply: try Reply(answer))
        // Nothing else is ever found about a receipt.
        case .genuine, .unjudged, .unidentified: return .park(reason: "verification.app_unidentified")
        }
    }

    private mutating func refuse(
        _ answer: PurchaseAnswered, _ reason: String, _ container: [UInt8], _ request: ReceiptCheckRequested,
        _ header: MessageHeader, _ transaction: inout Transaction
    ) throws -> Outcome {
        instruments.asked("refused").increment()
        logger.info(
            "receipt refused",
            [
                "correlation.id": .string(header.correlationID), "app": .string(request.app.rawValue),
                "reason": .string(reason),
            ])
        // Its beginning is the name of its form, the same for all: the hash tells them apart.
        let refusal = Refusal(
            app: request.app, submitter: request.userID, reason: reason, evidenceHash: SHA256.hash(container),
            excerpt: "", cause: header)
        try store.save([], [refusal], in: &transaction)
        try ReceiptCheckTable.decide(request.submission, answer: answer, in: &transaction)
        return .done(facts: [], reply: try Reply(answer))
    }
}

import AppStoreSimulation
import Crypto
import JOSE
import Messages
import Pipeline

/// The same for what services tell each other about Apple: notifications to act on, and certificates.
extension HostileValues {
    /// A notification about a purchase that nobody has heard of.
    static func told(
        _ id: String, type: String = "ONE_TIME_CHARGE", _ change: (inout NotificationVerified) -> Void = { _ in }
    ) -> NotificationVerified {
        var told = NotificationVerified(
            app: AppID("cloudpc"), environment: .production, notificationUUID: UUIDText.random(),
            notificationType: type, signedDate: 1_790_000_000_000)
        told.transaction = purchase(id).transaction
        change(&told)
        return told
    }

    func tellings() throws -> [Example] {
        var number = 0
        func id() -> String {
            number += 1
            return "7800000000\(number)"
        }
        func renewal(_ id: String) -> VerifiedRenewal {
            VerifiedRenewal(
                environment: .production, originalTransactionID: TransactionID(id), signedDate: .max,
                payloadHash: String(repeating: "0", count: 64))
        }
        let texts: [Example] = try Self.texts.flatMap { text in
            [
                try example("notification of \(text)", nil, Self.told("told " + text) { $0.notificationUUID = text }),
                try example("of type \(text)", nil, Self.told(id(), type: text) { $0.subtype = text }),
                try example("renewal of \(text)", nil, Self.told(id()) { $0.renewal = renewal(text) }),
                try example("refund of \(text)", nil, Self.told("told " + text, type: "REFUND")),
            ]
        }
        let rest: [Example] = [
            try example("the smallest date", nil, Self.told(id()) { $0.signedDate = .min }),
            try example("no transaction at all", nil, Self.told("x", type: "REFUND") { $0.transaction = nil }),
            try example("a refund of more than everything", nil, Self.refunded(id(), share: .max)),
            try example("a refund of less than nothing", nil, Self.refunded(id(), share: .min)),
            try example("a type of a megabyte", nil, Self.told(id(), type: Self.megabyte)),
            try example("a transaction with NUL", Self.notStorable, Self.told(Self.nul)),
            try example("a transaction of a megabyte", Self.tooLong, Self.told(Self.megabyte)),
            try example("no transaction id", Self.violation, Self.told("")),
            try example("a renewal with NUL", Self.notStorable, Self.told(id()) { $0.renewal = renewal(Self.nul) }),
        ]
        return texts + rest
    }

    private static func refunded(_ id: String, share: Int64) -> NotificationVerified {
        told(id, type: "REFUND") {
            $0.transaction?.revocationDate = .max
            $0.transaction?.revocationPercentage = share
        }
    }

    /// The deployment's chain, which names nobody to ask.
    func chain() throws -> ChainCheckRequested {
        let authority = try SimulatedAuthority.load(from: insider.deployment.folder + "/store")
        return ChainCheckRequested(
            leaf: Base64.encode(authority.leaf.der), intermediate: Base64.encode(authority.intermediate.der))
    }

    func chains() throws -> [Example] {
        let own = try chain()
        let untrusted = "revocation.chain_untrusted"
        // Certificates of somebody else that name whatever they like: nobody is asked before they are trusted.
        let strangers = try ["http://169.254.169.254/", "http://127.0.0.1:5432/", "file:///etc/passwd"].map {
            try SimulatedAuthority.generate(ocspAddress: $0)
        }
        let texts: [Example] = try (Self.texts + [Self.nul, Self.megabyte, "", "AA==", "="]).flatMap { text in
            [
                try example(
                    "leaf \(text.prefix(30))", untrusted,
                    ChainCheckRequested(leaf: text, intermediate: own.intermediate)),
                try example(
                    "intermediate \(text.prefix(30))", untrusted,
                    ChainCheckRequested(leaf: own.leaf, intermediate: text)),
            ]
        }
        let others = try strangers.map { stranger in
            try example(
                "a stranger's chain", untrusted,
                ChainCheckRequested(
                    leaf: Base64.encode(stranger.leaf.der), intermediate: Base64.encode(stranger.intermediate.der)))
        }
        let swapped = ChainCheckRequested(leaf: own.intermediate, intermediate: own.leaf)
        return texts + others + [
            try example("the wrong way round", untrusted, swapped),
            try example("our own", nil, own),
        ]
    }

    /// What was found out about a chain that nobody uses.
    static func checked(_ change: (inout ChainChecked) -> Void = { _ in }) throws -> ChainChecked {
        var checked = ChainChecked(
            chain: Hex.encode(try RandomBytes.generate(32)), subject: "/CN=hostile", serialNumber: "00", leafAsOf: 1,
            intermediateAsOf: 1, answerEnds: 2, checkAgainAt: 2)
        change(&checked)
        return checked
    }

    func answers() throws -> [Example] {
        let unreadable = "message.body_unreadable"
        let texts: [Example] = try Self.texts.flatMap { text in
            [
                try example("chain \(text)", unreadable, Self.checked { $0.chain = text }),
                try example(
                    "subject \(text)", nil,
                    Self.checked {
                        $0.subject = text
                        $0.serialNumber = text
                    }),
            ]
        }
        let rest: [Example] = [
            try example("a chain of a megabyte", unreadable, Self.checked { $0.chain = Self.megabyte }),
            try example("a subject with NUL", unreadable, Self.checked { $0.subject = Self.nul }),
            try example("a subject of a megabyte", unreadable, Self.checked { $0.subject = Self.megabyte }),
            try example("a reason without a revocation", unreadable, Self.checked { $0.reason = 1 }),
            try example(
                "the largest of everything", nil,
                Self.checked {
                    ($0.revokedAt, $0.reason, $0.leafAsOf, $0.answerEnds, $0.checkAgainAt) = (
                        .max, .max, .max, .max, .max
                    )
                }),
            try example(
                "the smallest of everything", nil,
                Self.checked {
                    ($0.revokedAt, $0.reason, $0.leafAsOf, $0.answerEnds, $0.checkAgainAt) = (
                        .min, .min, .min, .min, .min
                    )
                }),
        ]
        return texts + rest
    }

    /// A request to ask Apple about a receipt that nobody keeps any more.
    static func unjudged(_ change: (inout ReceiptCheckRequested) -> Void = { _ in }) -> ReceiptCheckRequested {
        var request = ReceiptCheckRequested(
            PurchaseSubmitted(app: AppID("cloudpc"), userID: nil, receipt: "", productID: ProductID("pyy_danbing_60")),
            submission: MessageID(UUIDText.random()), at: 0, reason: "format")
        change(&request)
        return request
    }

    /// Whatever stands in it: without the receipt it is decided already, and nobody is asked.
    func unjudgedReceipts() throws -> [Example] {
        try (Self.texts + [Self.nul, Self.megabyte, ""]).flatMap { text in
            [
                try example("submission \(text.prefix(30))", nil, Self.unjudged { $0.submission = MessageID(text) }),
                try example(
                    "user \(text.prefix(30))", nil,
                    Self.unjudged {
                        ($0.userID, $0.productID, $0.reason) = (UserID(text), ProductID(text), text)
                    }),
            ]
        }
    }
}

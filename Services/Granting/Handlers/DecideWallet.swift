import Messages
import Pipeline

/// Decides orders and spends, and records consent (`granting.wallet`). Lives on its lane's thread.
struct DecideWallet: Handler {
    private var catalogs = CatalogCache()

    /// Why a request that no caller of ours makes is parked.
    enum Reason {
        /// An amount below 1: the border lets none through.
        static let amount = "spend.amount_invalid"
        /// An id that is empty or longer than an index key should be.
        static let sourceID = "spend.source_id_invalid"
        /// A token that is no UUID, or a number that is empty or too long.
        static let order = "order.identity_invalid"
        /// A version of terms that is empty or too long.
        static let consent = "consent.terms_invalid"
    }

    /// Bytes of a caller's id at most: it is part of index keys, which hold 2.7 kB.
    static let longestID = 200

    /// A handler that knows no catalogue yet.
    init() {}

    /// What a message asks for.
    enum Request {
        /// An order, its token in lower-case UUID text.
        case order(OrderRequested)
        /// A user's token, in lower-case UUID text.
        case token(TokenRequested)
        /// A spend.
        case spend(SpendRequested)
        /// Consent given or withdrawn.
        case consent(ConsentChangeRequested)
        /// Nothing that can be decided.
        case unusable(reason: String)

        /// Who asks.
        var user: UserKey? {
            switch self {
            case .order(let order): UserKey(app: order.app, user: order.userID)
            case .token(let token): UserKey(app: token.app, user: token.userID)
            case .spend(let spend): UserKey(app: spend.app, user: spend.userID)
            case .consent(let consent): UserKey(app: consent.app, user: consent.userID)
            case .unusable: nil
            }
        }
    }

    /// What a user asked for who was erased before it was decided: nothing is done, and nobody is left to be answered.
    private static let nobody = Outcome.done(facts: [], reply: nil)

    /// Handles a batch inside one transaction.
    mutating func handle(_ batch: [Incoming], in tables: inout some BookTables & ~Copyable) throws -> [Outcome] {
        try decide(batch.map(read), of: batch, in: &tables)
    }

    /// Decides what the messages of a batch ask for.
    mutating func decide(
        _ requests: [Request], of batch: [Incoming], in tables: inout some BookTables & ~Copyable
    ) throws -> [Outcome] {
        var needs = BookNeeds()
        for (incoming, request) in zip(batch, requests) {
            if let user = request.user { needs.hear(user, at: incoming.header.occurredAt) }
            switch request {
            case .order(let order): needs.orders.append(order)
            case .token(let token): needs.userTokens.append(token)
            case .spend(let spend): needs.spends.append(spend)
            case .consent(let consent): needs.consents.append((incoming.header.id, consent))
            case .unusable: continue
            }
        }
        guard !needs.apps.isEmpty else { return requests.map(Self.parked) }
        var (books, callers) = try BookLoader.load(needs, &catalogs, in: &tables)
        var outcomes: [Outcome] = []
        for (incoming, request) in zip(batch, requests) {
            outcomes.append(try decide(request, incoming, &books, callers))
        }
        BookSaver.save(books, in: &tables)
        return outcomes
    }

    private func decide(
        _ request: Request, _ incoming: Incoming, _ books: inout Books, _ callers: Callers
    ) throws -> Outcome {
        let (cause, instant) = (incoming.header.id, incoming.header.occurredAt)
        let app: AppID
        let announcements: [Announcement]
        let reply: Reply?
        switch request {
        case .order(let order):
            guard let customer = callers.customer(UserKey(app: order.app, user: order.userID), at: instant) else {
                return Self.nobody
            }
            let decision = books.decide(OrderCase(cause: cause, customer: customer, request: order))
            (app, announcements, reply) = (order.app, decision.announcements, try incoming.reply(decision.answer))
        case .token(let token):
            guard let customer = callers.customer(UserKey(app: token.app, user: token.userID), at: instant) else {
                return Self.nobody
            }
            let decision = books.decide(TokenCase(customer: customer, request: token))
            (app, announcements, reply) = (token.app, decision.announcements, try incoming.reply(decision.answer))
        case .spend(let spend):
            guard let customer = callers.customer(UserKey(app: spend.app, user: spend.userID), at: instant) else {
                return Self.nobody
            }
            let decision = books.decide(SpendCase(cause: cause, customer: customer, request: spend))
            (app, announcements, reply) = (spend.app, decision.announcements, try incoming.reply(decision.answer))
        case .consent(let consent):
            guard let customer = callers.customer(UserKey(app: consent.app, user: consent.userID), at: instant) else {
                return Self.nobody
            }
            let decision = books.decide(
                ConsentCase(
                    cause: cause, customer: customer, request: consent, requestedAt: incoming.header.occurredAt))
            (app, announcements, reply) = (consent.app, decision.announcements, try incoming.reply(decision.answer))
        case .unusable: return Self.parked(request)
        }
        return .done(
            facts: try announcements.map { try $0.fact(causedBy: incoming.header, app: app, at: books.now) },
            reply: reply)
    }

    private func read(_ incoming: Incoming) -> Request {
        if var order = incoming.read(OrderRequested.self) {
            guard let token = UUIDText.parse(order.appAccountToken), Self.isID(order.orderNumber.rawValue) else {
                return .unusable(reason: Reason.order)
            }
            order.appAccountToken = UUIDText.format(token)
            return .order(order)
        }
        if var request = incoming.read(TokenRequested.self) {
            guard let token = UUIDText.parse(request.appAccountToken) else { return .unusable(reason: Reason.order) }
            request.appAccountToken = UUIDText.format(token)
            return .token(request)
        }
        if let spend = incoming.read(SpendRequested.self) {
            guard spend.amount >= 1 else { return .unusable(reason: Reason.amount) }
            return Self.isID(spend.sourceID) ? .spend(spend) : .unusable(reason: Reason.sourceID)
        }
        if let consent = incoming.read(ConsentChangeRequested.self) {
            return consent.termsVersion.map(Self.isID) ?? true ? .consent(consent) : .unusable(reason: Reason.consent)
        }
        return .unusable(reason: Incoming.unreadable)
    }

    private static func isID(_ text: String) -> Bool { !text.isEmpty && text.utf8.count <= longestID }

    private static func parked(_ request: Request) -> Outcome {
        guard case .unusable(let reason) = request else { return .park(reason: Incoming.unreadable) }
        return .park(reason: reason)
    }
}

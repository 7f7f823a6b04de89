import Messages
import Pipeline
import Postgres

@testable import Granting

/// A request to forget a user, as the command line sends it.
func erasing(_ user: String, id: MessageID? = nil) throws -> Incoming {
    try message(
        UserEraseRequested(app: Shop.app, userID: UserID(user), formerIDs: [], actor: "op", reason: "asked"), id: id)
}

/// A request to make a guest's wallet a registered user's.
func transferring(
    _ guest: String, to user: String, request: String = "00000000-0000-4000-8000-0000000000a1", id: MessageID? = nil
) throws -> Incoming {
    try message(
        UserTransferRequested(
            app: Shop.app, fromUserID: UserID(guest), toUserID: UserID(user), requestID: request, actor: "op",
            reason: "registered"), id: id)
}

/// A page of a sweep.
func sweeping(
    before: Int64 = .max / 1_000_000, after: String? = nil, isDryRun: Bool = false, id: MessageID? = nil
) throws -> Incoming {
    try message(
        SandboxSweepRequested(
            app: Shop.app, sweep: "00000000-0000-4000-8000-0000000000b1", before: before,
            after: after.map { TransactionID($0) }, actor: "op", isDryRun: isDryRun), id: id)
}

/// An order, as the gateway asks for it.
func ordering(_ number: String, token: String, by user: String) throws -> Incoming {
    try message(
        OrderRequested(
            app: Shop.app, userID: UserID(user), productID: Shop.coins60, orderNumber: OrderNumber(number),
            appAccountToken: token))
}

extension Incoming {
    /// The same, sent an hour from now: by a login that is later than anything a test decides.
    var later: Incoming {
        var header = header
        header.occurredAt = WallClock.milliseconds + 3_600_000
        return Incoming(header: header, body: body, isRedelivered: isRedelivered)
    }
}

extension GrantingDatabase {
    /// Who there is, and who is nobody: user ids, sorted, NULL as `-`.
    func users() throws -> [String] {
        try rows(
            "SELECT coalesce(user_id, '-') AS name FROM granting.customers ORDER BY user_id COLLATE \"C\" NULLS LAST"
        )
        .map { try $0.text("name") }
    }

    /// Balances of DANBING by user; those of nobody under `-`.
    func coins() throws -> [String: Int64] {
        let rows = try rows(
            """
            SELECT coalesce(user_id, '-') AS name, sum(balance)::bigint AS balance FROM granting.accounts
            JOIN granting.customers USING (customer) WHERE asset = 'DANBING' GROUP BY 1
            """)
        return try rows.reduce(into: [:]) { $0[try $1.text("name")] = try $1.int8("balance") }
    }

    /// Every text in every table of the schema that has `needle` in it: table names.
    func tablesNaming(_ needle: String) throws -> [String] {
        let tables = try rows(
            """
            SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'granting' AND c.relkind = 'r' ORDER BY 1
            """
        ).map { try $0.text("name") }
        return try tables.filter { try !rows("SELECT FROM \($0) t WHERE t::text LIKE '%\(needle)%' LIMIT 1").isEmpty }
    }
}

import Messages
import Pipeline
import Postgres

/// An operator's decision about a user, for the record.
struct UserCommand: Sendable, Equatable {
    /// What was asked for.
    enum Kind: String, Sendable {
        case erase, transfer
    }

    /// How it ended.
    enum Outcome: String, Sendable {
        case erased, transferred
        case unknownUser = "unknown_user"
        case unknownGuest = "unknown_guest"
        case userHasBooks = "user_has_books"
    }

    /// What was asked for.
    var kind: Kind
    /// The app.
    var app: AppID
    /// The asker's number: UUID text; of an erasure the message's id.
    var requestID: String
    /// Whom it was about: the user, or guest and user.
    var users: [UserID]
    /// The message.
    var cause: MessageID
    /// How it ended.
    var outcome: Outcome
    /// Whose wallet it was about.
    var customer: CustomerID?
    /// What the guest was called.
    var formerID: UserID?
    /// Who decided it.
    var actor: String
    /// Why.
    var reason: String
}

/// `granting.former_users`, `.user_commands`, and what is changed of customers by commands about users.
enum UserTables {
    /// SHA-256 of names, each after a zero byte: no text of PostgreSQL holds one.
    private static func digest(_ names: [String]) -> String {
        "sha256(" + names.map { "convert_to(\($0), 'UTF8')" }.joined(separator: #" || '\x00'::bytea || "#) + ")"
    }

    /// What names of users meant before, oldest first.
    static func former(_ users: [UserKey]) -> Statement {
        Statement(
            """
            SELECT u.app, u.user_id, f.customer, f.until FROM unnest($1::text[], $2::text[]) AS u (app, user_id)
            JOIN granting.former_users f ON f.app = u.app AND f.digest = \(digest(["u.app", "u.user_id"]))
            ORDER BY f.until
            """, [.texts(users.map(\.app)), .texts(users.map(\.user))])
    }

    /// What a name means no more.
    static func retire(_ name: FormerUser, cause: MessageID) -> Statement {
        Statement(
            """
            INSERT INTO granting.former_users (app, digest, until, customer, cause)
            SELECT $1, \(digest(["$1", "$2"])), $3, ($4::uuid[])[1], ($5::uuid[])[1] ON CONFLICT DO NOTHING
            """,
            [
                .text(name.user.app.rawValue), .text(name.user.user.rawValue), .int8(name.until),
                .uuids([name.customer]), .uuids([cause]),
            ])
    }

    /// What was decided on a request before: whether it was about the same users, and how it ended.
    static func decided(_ kind: UserCommand.Kind, _ app: AppID, _ requestID: String, _ users: [UserID]) -> Statement {
        Statement(
            """
            SELECT c.outcome, c.customer, c.subject = \(subject(from: 4, users)) AS same FROM granting.user_commands c
            WHERE c.kind = $1 AND c.app = $2 AND c.request_id = ($3::uuid[])[1]
            """,
            [.text(kind.rawValue), .text(app.rawValue), .uuids([requestID])] + users.map { .text($0.rawValue) })
    }

    /// Puts a decision on record.
    static func record(_ command: UserCommand) -> Statement {
        Statement(
            """
            INSERT INTO granting.user_commands (kind, app, request_id, cause, outcome, customer, former_id, actor, reason,
                subject)
            VALUES ($1, $2, ($3::uuid[])[1], ($4::uuid[])[1], $5, ($6::uuid[])[1], $7, $8, $9,
                \(subject(from: 10, command.users)))
            """,
            [
                .text(command.kind.rawValue), .text(command.app.rawValue), .uuids([command.requestID]),
                .uuids([command.cause]), .text(command.outcome.rawValue), .uuids([command.customer]),
                .text(command.formerID?.rawValue), .text(command.actor), .text(command.reason),
            ] + command.users.map { .text($0.rawValue) })
    }

    private static func subject(from first: Int, _ users: [UserID]) -> String {
        digest(users.indices.map { "$\(first + $0)::text" })
    }

    /// One row if a customer has anything that another wallet could miss.
    static func hasBooks(_ customer: CustomerID) -> Statement {
        let tables = [
            ("tokens", "customer"), ("orders", "customer"), ("accounts", "customer"), ("grants", "customer"),
            ("spends", "customer"), ("consents", "customer"), ("identities", "customer"),
            ("risk_clearances", "customer"), ("transactions", "owner"),
        ]
        let any = tables.map { "EXISTS (SELECT FROM granting.\($0.0) x WHERE x.\($0.1) = c.customer)" }
        return Statement(
            """
            SELECT c.customer FROM granting.customers c WHERE c.customer = ANY($1::uuid[]) AND (
            \(any.joined(separator: "\n    OR "))
                OR EXISTS (SELECT FROM granting.transactions x WHERE x.app = c.app AND x.held_reason IS NOT NULL
                    AND x.submitter = c.customer))
            """, [.uuids([customer])])
    }

    /// Who a customer is from now on; nil: nobody.
    static func name(_ customer: CustomerID, _ user: UserID?) -> Statement {
        Statement(
            "UPDATE granting.customers SET user_id = $2 WHERE customer = ANY($1::uuid[])",
            [.uuids([customer]), .text(user?.rawValue)])
    }

    /// Forgets who a customer is to starter offers.
    static func forgetIdentities(of customer: CustomerID) -> Statement {
        Statement("DELETE FROM granting.identities WHERE customer = ANY($1::uuid[])", [.uuids([customer])])
    }

    /// Forgets what a customer was called as a guest.
    static func forgetFormerNames(of customer: CustomerID) -> Statement {
        Statement(
            """
            UPDATE granting.user_commands SET former_id = NULL
            WHERE customer = ANY($1::uuid[]) AND former_id IS NOT NULL
            """, [.uuids([customer])])
    }

    /// Ends orders that nothing was delivered on; their tokens stay valid.
    static func endOrders(of customer: CustomerID) -> Statement {
        Statement(
            """
            UPDATE granting.orders SET expires_at = least(expires_at, clock_timestamp())
            WHERE customer = ANY($1::uuid[]) AND delivered_transaction IS NULL
            """, [.uuids([customer])])
    }

    /// Takes the submitter off held purchases that nobody owns.
    static func dropSubmissions(of customer: CustomerID) -> Statement {
        Statement(
            """
            UPDATE granting.transactions t SET submitter = NULL, submitted_order = NULL
            FROM granting.customers c WHERE c.customer = ANY($1::uuid[]) AND t.app = c.app
                AND t.held_reason IS NOT NULL AND t.owner IS NULL AND t.submitter = c.customer
            """, [.uuids([customer])])
    }

    /// A former name's row.
    static func former(_ row: Row) throws -> FormerUser {
        FormerUser(
            user: UserKey(app: AppID(try row.text("app")), user: UserID(try row.text("user_id"))),
            customer: try row.optionalID("customer"), until: try row.int8("until"))
    }

    /// A decision's row.
    static func decision(_ row: Row) throws -> (outcome: UserCommand.Outcome, customer: CustomerID?, isSame: Bool) {
        (try row.member("outcome"), try row.optionalID("customer"), try row.bool("same"))
    }
}

import Messages
import Pipeline
import Postgres

/// Identifiers on their way into and out of SQL. Times are milliseconds since 1970 on both sides.
extension SQLValue {
    /// Identifiers as `text[]`.
    static func texts<Kind>(_ identifiers: [Identifier<Kind>]) -> SQLValue { .textArray(identifiers.map(\.rawValue)) }

    /// Optional identifiers as `text[]`.
    static func texts<Kind>(_ identifiers: [Identifier<Kind>?]) -> SQLValue {
        .textArray(identifiers.map { $0?.rawValue })
    }

    /// UUID texts as `uuid[]`; what is no UUID becomes NULL, which the tables refuse where it matters.
    static func uuids<Kind>(_ identifiers: [Identifier<Kind>]) -> SQLValue {
        .uuidArray(identifiers.map { UUIDText.parse($0.rawValue) })
    }

    /// Optional UUID texts as `uuid[]`.
    static func uuids<Kind>(_ identifiers: [Identifier<Kind>?]) -> SQLValue {
        .uuidArray(identifiers.map { $0.flatMap { UUIDText.parse($0.rawValue) } })
    }

    /// Tokens as `uuid[]`.
    static func uuids(_ tokens: [String?]) -> SQLValue { .uuidArray(tokens.map { $0.flatMap { UUIDText.parse($0) } }) }

    /// Environments and transaction ids as two `text[]`.
    static func keys(_ keys: [TransactionKey]) -> [SQLValue] {
        [.textArray(keys.map(\.environment.rawValue)), .textArray(keys.map(\.transactionID.rawValue))]
    }
}

extension Row {
    /// A `uuid` column as an identifier.
    func id<Kind>(_ column: String) throws -> Identifier<Kind> { Identifier(UUIDText.format(try uuid(column))) }

    /// A nullable `uuid` column as an identifier.
    func optionalID<Kind>(_ column: String) throws -> Identifier<Kind>? {
        try optionalUUID(column).map { Identifier(UUIDText.format($0)) }
    }

    /// A nullable `text` column as an identifier.
    func optionalName<Kind>(_ column: String) throws -> Identifier<Kind>? {
        try optionalText(column).map { Identifier($0) }
    }

    /// The columns `environment` and `transaction_id`, or others of that meaning.
    func transactionKey(
        _ environment: String = "environment", _ transaction: String = "transaction_id"
    ) throws -> TransactionKey {
        TransactionKey(environment: try book(environment), transactionID: TransactionID(try text(transaction)))
    }

    /// An environment; the schema allows only ours.
    func book(_ column: String) throws -> StoreEnvironment {
        guard let environment = StoreEnvironment(rawValue: try text(column)) else {
            throw PostgresError.unreadableColumn(name: column, problem: "is no environment")
        }
        return environment
    }

    /// A column with one of an enum's texts.
    func member<Value: RawRepresentable<String>>(_ column: String) throws -> Value {
        guard let value = Value(rawValue: try text(column)) else {
            throw PostgresError.unreadableColumn(name: column, problem: "has an unknown value")
        }
        return value
    }
}

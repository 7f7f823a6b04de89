import Postgres
import TestSupport

/// The database shared by all suites here; every test uses tables of its own.
func database() async throws -> TestDatabase {
    try await TestDatabase.shared("postgres")
}

/// The error of `body`, or `nil`. Other errors than PostgreSQL's are rethrown.
func failure(_ body: () throws -> Void) throws -> PostgresError? {
    do {
        try body()
        return nil
    } catch let error as PostgresError {
        return error
    }
}

import Testing

@testable import Postgres

/// The retry table.
@Suite struct ErrorClassTests {
    @Test(
        arguments: [
            (["40001", "40P01", "25P02", "26000"], PostgresError.RetryClass.retryNow),
            (
                [
                    "57P01", "57P02", "57P03", "08000", "08001", "08003", "08006", "08P01", "53100", "53200", "53300",
                    "58030", "55P03", "57014", "25P03", "25006", "28P01", "3D000", "XX000",
                ], .wait
            ),
            (
                ["22001", "22003", "22P02", "22021", "23505", "23503", "23514", "23502", "21000", "54000", "P0001"],
                .dataError
            ),
            (["42P01", "42703", "42501", "42601", "3F000"], .notReady),
            (["08007", "40003"], .ambiguous),
        ] as [([String], PostgresError.RetryClass)])
    func `every SQLSTATE has its class`(states: [String], expected: PostgresError.RetryClass) {
        for state in states {
            let report = PostgresError.ServerReport(sqlState: state, message: "", constraint: nil, table: nil)
            #expect(PostgresError.server(report).retryClass == expected, "\(state)")
            #expect(PostgresError.server(report).isRetryable == (expected != .dataError))
            #expect(PostgresError.server(report).code == "postgres.sqlstate.\(state)")
        }
    }

    @Test func `errors without a SQLSTATE have a class and a code each`() {
        let expected: [(PostgresError, PostgresError.RetryClass, String)] = [
            (.invalidConnectionString, .notReady, "postgres.invalid_connection_string"),
            (.cannotConnect("x"), .wait, "postgres.cannot_connect"),
            (.connectionLost("x"), .wait, "postgres.connection_lost"),
            (.ambiguousCommit("x"), .ambiguous, "postgres.ambiguous_commit"),
            (.rolledBack, .retryNow, "postgres.rolled_back"),
            (.unreadableColumn(name: "a", problem: "is NULL"), .notReady, "postgres.unreadable_column"),
            (.unexpectedRowCount(2), .notReady, "postgres.unexpected_row_count"),
            (.unsafeSetting(name: "fsync", value: "off", required: "on"), .notReady, "postgres.unsafe_setting"),
        ]
        for (error, retryClass, code) in expected {
            #expect(error.retryClass == retryClass)
            #expect(error.code == code)
            #expect(error.sqlState == nil)
        }
    }

    @Test(arguments: [
        (#"invalid input syntax for type uuid: "canary""#, "22P02", "invalid input syntax for type uuid…"),
        (#"value "canary" is out of range for type integer"#, "22003", "value …"),
        ("bigint out of range", "22003", "bigint out of range"),
        (#"duplicate key value violates unique constraint "a_pkey""#, "23505", nil),
    ])
    func `the message of a data exception ends before the value it quotes`(
        message: String, sqlState: String, expected: String?
    ) {
        #expect(Wire.withoutValues(message, sqlState: sqlState) == expected ?? message)
    }
}

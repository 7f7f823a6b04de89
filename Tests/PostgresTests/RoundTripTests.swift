import Postgres
import TestSupport
import Testing

/// Every type there and back through a real server.
@Suite struct RoundTripTests {
    private static let uuid: [UInt8] = Array(1...16)

    @Test func `every scalar comes back as it was sent, and NULL as nothing`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            let sql = """
                SELECT $1::text AS t, $2::bigint AS i8, $3::integer AS i4, $4::boolean AS b, $5::uuid AS u,
                       $6::bytea AS d, $7::jsonb AS j, $8::timestamptz AS ts, $9::json AS plain, 7::smallint AS i2
                """
            let full = try connection.query(
                sql,
                [
                    .text("grüße 💰 'quoted' \\"), .int8(.min), .int4(.max), .bool(true), .uuid(Self.uuid),
                    .bytes([0, 255, 0]), .json(#"{"a": [1, null]}"#),
                    .timestamp(millisecondsSince1970: 1_796_029_507_042), .json(#"{"b":  1}"#),
                ]
            ).single()
            #expect(try full.text("t") == "grüße 💰 'quoted' \\")
            #expect(try full.int8("i8") == .min)
            #expect(try full.int4("i4") == .max)
            #expect(try full.int8("i4") == Int64(Int32.max), "integers widen")
            #expect(try full.int4("i2") == 7)
            #expect(try full.bool("b"))
            #expect(try full.uuid("u") == Self.uuid)
            #expect(try full.bytes("d") == [0, 255, 0])
            #expect(try full.json("j") == #"{"a": [1, null]}"#)
            #expect(try full.json("plain") == #"{"b":  1}"#)
            #expect(try full.timestampMilliseconds("ts") == 1_796_029_507_042)

            let empty = try connection.query(sql, Array(repeating: .null, count: 9)).single()
            #expect(try empty.optionalText("t") == nil)
            #expect(try empty.optionalInt8("i8") == nil)
            #expect(try empty.optionalInt4("i4") == nil)
            #expect(try empty.optionalBool("b") == nil)
            #expect(try empty.optionalUUID("u") == nil)
            #expect(try empty.optionalBytes("d") == nil)
            #expect(try empty.optionalJSON("j") == nil)
            #expect(try empty.optionalTimestampMilliseconds("ts") == nil)
            #expect(try empty.isNull("t"))
        }
    }

    @Test func `every array comes back as it was sent, with NULLs and empty`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            let sql = """
                SELECT $1::text[] AS t, $2::bigint[] AS i8, $3::integer[] AS i4, $4::boolean[] AS b, $5::uuid[] AS u,
                       $6::bytea[] AS d, $7::timestamptz[] AS ts
                """
            let times: [Int64?] = [0, nil, -1, 1_796_029_507_042]
            let full = try connection.query(
                sql,
                [
                    .textArray(["", nil, "{\"a\",NULL}", "ä"]), .int8Array([.min, nil, .max]), .int4Array([1, nil]),
                    .boolArray([true, nil, false]), .uuidArray([Self.uuid, nil]), .bytesArray([[], nil, [0]]),
                    .timestampArray(times),
                ]
            ).single()
            #expect(try full.textArray("t") == ["", nil, "{\"a\",NULL}", "ä"])
            #expect(try full.int8Array("i8") == [.min, nil, .max])
            #expect(try full.int4Array("i4") == [1, nil])
            #expect(try full.boolArray("b") == [true, nil, false])
            #expect(try full.uuidArray("u") == [Self.uuid, nil])
            #expect(try full.bytesArray("d") == [[], nil, [0]])
            #expect(try full.timestampMillisecondsArray("ts") == times)

            let empty = try connection.query(
                sql,
                [
                    .textArray([]), .int8Array([]), .int4Array([]), .boolArray([]), .uuidArray([]), .bytesArray([]),
                    .timestampArray([]),
                ]
            ).single()
            #expect(try empty.textArray("t").isEmpty)
            #expect(try empty.timestampMillisecondsArray("ts").isEmpty)
        }
    }

    @Test func `the server sees the same values as the client`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            let row = try connection.query(
                """
                SELECT $1::uuid::text AS u, extract(epoch FROM $2::timestamptz)::text AS ts, ($3::text[])[2] AS second,
                       encode($4::bytea, 'hex') AS d, 'infinity'::timestamptz AS never,
                       timestamptz '1969-12-31 23:59:59.9995Z' AS early
                """,
                [
                    .uuid(Self.uuid), .timestamp(millisecondsSince1970: 951_782_400_123), .textArray(["a", "b"]),
                    .bytes([222, 173]),
                ]
            ).single()
            #expect(try row.text("u") == "01020304-0506-0708-090a-0b0c0d0e0f10")
            #expect(try row.text("ts") == "951782400.123000")
            #expect(try row.text("second") == "b")
            #expect(try row.text("d") == "dead")
            #expect(try row.timestampMilliseconds("early") == -1, "rounded down")
            let error = try failure { _ = try row.timestampMilliseconds("never") }
            #expect(error == .unreadableColumn(name: "never", problem: "is infinite"))
        }
    }

    @Test func `five thousand rows go in and out through unnest`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript(
                "CREATE TABLE big (id uuid PRIMARY KEY, name text, amount bigint, at timestamptz)")
            let ids = (0..<5_000).map { index -> [UInt8]? in
                Array(repeating: 0, count: 14) + [UInt8(index / 256), UInt8(index % 256)]
            }
            let names = (0..<5_000).map { $0 % 7 == 0 ? nil : "name \($0)" }
            let amounts = (0..<5_000).map { Optional(Int64($0) * 1_000_003) }
            let times = (0..<5_000).map { Optional(Int64($0) * 997) }
            let inserted = try connection.query(
                "INSERT INTO big SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::timestamptz[])",
                [.uuidArray(ids), .textArray(names), .int8Array(amounts), .timestampArray(times)])
            #expect(inserted.affectedCount == 5_000)
            #expect(inserted.commandTag == "INSERT 0 5000")
            let rows = try connection.query("SELECT * FROM big ORDER BY id")
            #expect(rows.count == 5_000)
            #expect(try rows.map { try $0.uuid("id") } == ids)
            #expect(try rows.map { try $0.optionalText("name") } == names)
            #expect(try rows.map { try $0.int8("amount") } == amounts)
            #expect(try rows.map { try $0.timestampMilliseconds("at") } == times)
        }
    }

    @Test func `reading a column as something else names it and converts nothing`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript("CREATE TYPE mood AS ENUM ('happy', 'sad')")
            let row = try connection.query(
                """
                SELECT 'canary'::text AS t, 1::bigint AS i, NULL::text AS n, 'sad'::mood AS m,
                       sum(x) AS total, ARRAY[[1,2],[3,4]]::bigint[] AS square
                FROM unnest(ARRAY[1::bigint]) AS x
                """
            ).single()
            let expected: [(String, String, () throws -> Void)] = [
                ("t", "is text, not bigint", { _ = try row.int8("t") }),
                ("i", "is bigint, not text", { _ = try row.text("i") }),
                ("i", "is bigint, not integer", { _ = try row.int4("i") }),
                ("i", "is bigint, not bigint[]", { _ = try row.int8Array("i") }),
                ("n", "is NULL", { _ = try row.text("n") }),
                ("absent", "is not in the result", { _ = try row.optionalText("absent") }),
                ("total", "is numeric (cast it: sum(bigint) is numeric), not bigint", { _ = try row.int8("total") }),
                ("square", "has 2 dimensions", { _ = try row.int8Array("square") }),
            ]
            for (name, problem, body) in expected {
                let error = try failure(body)
                #expect(error == .unreadableColumn(name: name, problem: problem))
                #expect(error?.description.contains("canary") == false)
            }
            #expect(try row.text("m") == "sad")
        }
    }
}

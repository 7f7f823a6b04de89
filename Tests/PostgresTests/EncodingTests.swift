import Testing

@testable import Postgres

/// What is decided before a byte is sent.
@Suite struct EncodingTests {
    @Test(arguments: [
        (SQLValue.text("canary\u{0}x"), "22021", "text contains a NUL character"),
        (.json("{\u{0}}"), "22021", "text contains a NUL character"),
        (.textArray(["a", nil, "canary\u{0}"]), "22021", "text contains a NUL character"),
        (.uuid([1, 2, 3]), "22P03", "a uuid has 16 bytes"),
        (.uuidArray([[]]), "22P03", "a uuid has 16 bytes"),
        (.timestamp(millisecondsSince1970: .max), "22008", "time out of range"),
        (.timestamp(millisecondsSince1970: .min), "22008", "time out of range"),
        (.timestampArray([0, -9_223_372_036_854_775]), "22008", "time out of range"),
    ])
    func `a value PostgreSQL cannot store is a data error that names the parameter and not the value`(
        value: SQLValue, sqlState: String, problem: String
    ) throws {
        let error = try failure { _ = try EncodedParameters([.int8(1), value]) }
        #expect(error == .invalidParameter(number: 2, sqlState: sqlState, problem: problem))
        #expect(error?.retryClass == .dataError)
        #expect(error?.isRetryable == false)
        #expect(error?.description.contains("canary") == false)
    }

    @Test func `values are big-endian, one after the other`() throws {
        let parameters = try EncodedParameters([.int4(1), .null, .text("ab"), .bool(true), .int8(-2)])
        #expect(parameters.bytes == [0, 0, 0, 0, 1, 97, 98, 1, 255, 255, 255, 255, 255, 255, 255, 254])
        #expect(parameters.offsets == [1, nil, 5, 7, 8])
        #expect(parameters.lengths == [4, 0, 2, 1, 8])
    }

    @Test func `an array tells its elements' type, their number and their lengths`() throws {
        let parameters = try EncodedParameters([.textArray(["a", nil])])
        #expect(
            parameters.bytes.dropFirst() == [
                0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 25, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 97, 255, 255, 255, 255,
            ])
        let empty = try EncodedParameters([.int8Array([])])
        #expect(empty.bytes.dropFirst() == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20])
    }

    @Test(arguments: [
        [UInt8](), [0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20],
        [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 127, 255, 255, 255, 0, 0, 0, 1],
        [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9, 0],
        [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 255, 255, 255, 255, 0, 0, 0, 1],
        [0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 20],
    ])
    func `a malformed array is an error, not a trap`(bytes: [UInt8]) {
        let cell = Cell(type: TypeOID.int8Array, bytes: bytes[...])
        #expect(throws: ColumnProblem.self) {
            try BinaryDecoding.array(cell, TypeOID.int8Array, BinaryDecoding.int8)
        }
    }

    @Test func `a NULL fits every variant of a prepared statement and learns types from others`() {
        var cache = StatementCache()
        guard case .prepare(let first, let types) = cache.plan("q", [TypeOID.int8, TypeOID.text]) else {
            Issue.record("not prepared")
            return
        }
        cache.add("q", name: first, types: types)
        guard case .ready(let again) = cache.plan("q", [TypeOID.inferred, TypeOID.text]) else {
            Issue.record("prepared twice")
            return
        }
        #expect(again == first)
        guard case .prepare(_, let merged) = cache.plan("q", [TypeOID.inferred, TypeOID.uuid]) else {
            Issue.record("another type needs another statement")
            return
        }
        #expect(merged == [TypeOID.int8, TypeOID.uuid])
        cache.remove("q", name: first)
        if case .ready = cache.plan("q", [TypeOID.int8, TypeOID.text]) { Issue.record("still known") }
    }
}

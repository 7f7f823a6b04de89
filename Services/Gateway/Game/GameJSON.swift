import GameProtocol
import JSON

/// The answers in JSON: named as protobuf's JSON form names the fields, with `code` in words as in every answer of this
/// gateway, and the game's number as `number`.
enum GameJSON {
    /// `POST /iap/verify`.
    static func verified(_ answer: VerifyAnswer) -> JSONObject {
        [
            "code": "OK", "number": .integer(Int64(answer.code)), "msg": .string(answer.message),
            "rewardId": .integer(Int64(answer.rewardID)), "productId": .string(answer.productID),
            "finish": .bool(answer.finish), "amount": .integer(answer.amount), "balance": .integer(answer.balance),
            "transactionIds": .array(answer.transactionIDs.map { .string($0) }),
        ]
    }

    /// `GET /iap/history`.
    static func history(_ answer: HistoryAnswer) -> JSONObject {
        var body: JSONObject = [
            "code": "OK", "number": .integer(Int64(answer.code)), "records": .array(answer.records.map(record)),
        ]
        if !answer.nextCursor.isEmpty { body.set("nextCursor", .string(answer.nextCursor)) }
        return body
    }

    private static func record(_ record: HistoryRecord) -> JSONValue {
        [
            "transactionId": .string(record.transactionID), "productId": .string(record.productID),
            "amount": .integer(Int64(record.amount)), "createdAt": .integer(record.createdAt),
            "refundedAt": .integer(record.refundedAt), "refundedShare": .integer(Int64(record.refundedShare)),
            "sandbox": .bool(record.isSandbox),
        ]
    }
}

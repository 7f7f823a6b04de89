import JOSE
import JSON

/// What a signed transaction says, read without checking the signature: an app knows what it bought.
enum SignedText {
    static func payload(of signedTransactionInfo: String) -> JSONObject? {
        guard let parts = try? CompactJWS(Array(signedTransactionInfo.utf8)), let payload = try? parts.decodePayload()
        else { return nil }
        return try? JSONReader.parseObject(payload)
    }
}

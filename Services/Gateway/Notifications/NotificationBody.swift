import JSON

/// Reads what is sent to a notification address: `{"signedPayload": "<JWS>"}`, unknown members ignored.
enum NotificationBody {
    /// Why a body is no notification; the raw value is the label of a metric and a log field.
    enum Unusable: String, Error, CaseIterable, Sendable {
        /// No JSON object.
        case unreadable
        /// No text `signedPayload`.
        case missing = "signed_payload_missing"
        /// Notifications of version 1: not signed, so nothing in them can be believed.
        case versionOne = "version_1"

        /// What the caller is told.
        var problem: Problem {
            switch self {
            case .unreadable:
                .malformed("", reason: "json.unreadable", detail: "The body is not one acceptable JSON object.")
            case .missing: Problem(.signedPayloadMissing)
            case .versionOne: Problem(.notificationVersionUnsupported)
            }
        }
    }

    /// A version 1 body may hold a hundred receipts with twenty fields each, and is to be told apart from garbage.
    private static let limits = JSONLimits(
        maximumBytes: NotificationSurface.longestBody, maximumDepth: 16, maximumKeys: 512, maximumValues: 20_000)
    /// Members that only version 1 has.
    private static let versionOneMembers = ["notification_type", "unified_receipt", "latest_receipt", "password"]

    /// The JWS. The media type is not looked at: a notification must not be lost over a header field.
    static func signedPayload(_ body: [UInt8]) throws(Unusable) -> String {
        let object: JSONObject
        do { object = try JSONReader.parseObject(body, limits: limits) } catch { throw .unreadable }
        if let text = object["signedPayload"]?.stringValue, !text.isEmpty { return text }
        throw versionOneMembers.contains { object[$0] != nil } ? .versionOne : .missing
    }
}

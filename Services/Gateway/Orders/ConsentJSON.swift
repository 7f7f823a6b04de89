import JSON
import Messages

/// `/api/iap/consumption-consent`: whether Apple may be told how much of a purchase the user used.
enum ConsentJSON {
    /// Longest version of terms in bytes.
    private static let longestVersion = 64

    /// The word in force.
    static func body(_ answer: ConsentAnswered) -> JSONObject {
        var body: JSONObject = ["consented": .bool(answer.isGiven)]
        if let version = answer.termsVersion { body.set("termsVersion", .string(version)) }
        if let changed = answer.changedAt { body.set("changedAt", .string(RFC3339.format(changed))) }
        return body
    }

    /// What the user agreed to, if the client says so.
    static func termsVersion(_ body: JSONObject) throws(Problem) -> String? {
        try JSONBody.members { () throws(JSONError) -> String? in
            guard try body.optionalString("termsVersion") != nil else { return nil }
            return try body.plainText("termsVersion", longest: longestVersion)
        }
    }
}

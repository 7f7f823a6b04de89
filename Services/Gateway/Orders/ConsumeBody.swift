import JSON
import Messages

/// The body of `POST /api/wallet/consume`. Unknown members are refused: a server that misspells one must learn it before
/// somebody's balance is touched.
struct ConsumeBody: Equatable {
    /// Whose wallet.
    let userID: UserID
    /// What.
    let asset: AssetID
    /// How much, at least 1.
    let amount: Int64
    /// The caller's id of this spend.
    let sourceID: String
    /// Milliseconds since 1970; refused after it.
    let deadline: Int64

    private static let members = ["userId", "assetType", "amount", "sourceId", "deadline"]
    /// Longest asset id in bytes.
    private static let longestAsset = 64
    /// Longest id of a spend in bytes.
    private static let longestSourceID = 128

    /// Reads it.
    init(_ body: JSONObject) throws(Problem) {
        if body.keys.contains(where: { !Self.members.contains($0) }) {
            // The name is a stranger's text and is not repeated.
            throw Problem.malformed(
                "", reason: "json.unknown_member",
                detail: "The body has a member this call does not know. Known are: "
                    + Self.members.joined(separator: ", ")
                    + ".")
        }
        let deadlineText: String
        (userID, asset, amount, sourceID, deadlineText) = try JSONBody.members {
            () throws(JSONError) -> (UserID, AssetID, Int64, String, String) in
            (
                UserID(try body.plainText("userId", longest: Authenticator.longestSubject)),
                AssetID(try body.plainText("assetType", longest: Self.longestAsset)),
                try body.int64("amount", in: 1...Int64.max),
                try body.plainText("sourceId", longest: Self.longestSourceID),
                try body.string("deadline")
            )
        }
        guard let deadline = RFC3339.parse(deadlineText) else {
            throw Problem.malformed(
                "deadline", reason: "json.wrong_type",
                detail: "The member `deadline` must be an RFC 3339 date-time such as 2026-11-30T09:05:07Z.")
        }
        self.deadline = deadline
    }
}

/// The two kinds of bearer tokens.
enum TokenKind: String, Sendable, CaseIterable {
    /// A user of an app; the subject is the user id.
    case login
    /// A server of an app; its audience names the app.
    case service

    /// The kind it is not.
    var other: TokenKind { self == .login ? .service : .login }
}

/// Who calls, proved by a token.
struct Caller: Sendable, Equatable {
    /// By which kind of token.
    let kind: TokenKind
    /// The token's subject; the user id for login tokens.
    let subject: String
    /// The address the token says is theirs, as it stands there; nil if there is none that is known to be theirs.
    var email: String?
    /// When the token ends, in seconds since 1970.
    var expiresAt: Int64 = 0
}

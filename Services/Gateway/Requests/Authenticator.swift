import HTTPServer
import JOSE
import JSON

/// Decides who calls, by the bearer token alone (RFC 6750, RFC 8725).
struct Authenticator: Sendable {
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64

    /// The longest user id in bytes; what the apps' own user tables hold is far shorter.
    static let longestSubject = 128

    /// Why nobody was let in; the raw value is the label of a metric and a log field.
    enum Refusal: String, CaseIterable, Sendable {
        /// No Authorization field, more than one, or no bearer token.
        case noToken = "no_token"
        /// Forged, for another app, or not readable.
        case invalidToken = "invalid_token"
        /// No usable subject.
        case invalidSubject = "invalid_subject"
        /// Genuine, but too old.
        case expired
        /// Genuine, but of the other kind.
        case wrongKind = "wrong_kind"
    }

    /// The outcome.
    enum Verdict: Sendable, Equatable {
        /// Let in.
        case caller(Caller)
        /// Kept out.
        case refused(Refusal)
    }

    /// Looks at the token of `request` for a call of `app` that takes tokens of `kind`.
    func judge(_ request: HTTPRequest, for app: ServedApp, kind: TokenKind) -> Verdict {
        guard let token = Self.bearerToken(request.headerValues("Authorization")) else { return .refused(.noToken) }
        switch check(token, app, kind) {
        case .success(let caller): return caller
        case .failure(let error):
            // Only a token that is genuine for the other kind is told apart from a forged one.
            switch check(token, app, kind.other) {
            case .success: return .refused(.wrongKind)
            case .failure(let other): return .refused(error == .expired || other == .expired ? .expired : .invalidToken)
            }
        }
    }

    private func check(_ token: String, _ app: ServedApp, _ kind: TokenKind) -> Result<Verdict, JWTError> {
        guard let verifier = app.verifier(for: kind) else { return .failure(.audience) }
        do throws(JWTError) {
            let claims = try verifier.verify(token, now: now() / 1_000)
            let subject = claims.subject ?? ""
            guard kind == .service || Self.isUsable(subject) else { return .success(.refused(.invalidSubject)) }
            return .success(
                .caller(
                    Caller(
                        kind: kind, subject: subject, email: Self.email(claims.all), expiresAt: claims.expiresAt)))
        } catch {
            return .failure(error)
        }
    }

    /// The claim `email` (OpenID Connect Core §5.1), unless the login itself says that it is not verified.
    private static func email(_ claims: JSONObject) -> String? {
        if let isVerified = claims["email_verified"], isVerified != .bool(true), isVerified != "true" { return nil }
        return claims["email"]?.stringValue
    }

    /// The token of the one Authorization field, if its scheme is Bearer (any case, RFC 9110 §11.1).
    static func bearerToken(_ values: [String]) -> String? {
        guard values.count == 1, let value = values.first else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        let token = parts[1].drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }

    /// A user id goes into keys and logs of databases: bounded, and without control characters.
    static func isUsable(_ subject: String) -> Bool {
        PlainText.isUsable(subject, longest: longestSubject)
    }
}

extension Problem {
    /// What a caller that was kept out is told, with the challenge of RFC 6750 §3.
    init(_ refusal: Authenticator.Refusal, needed: TokenKind) {
        switch refusal {
        case .noToken:
            self.init(.unauthenticated, detail: "Send the header `Authorization: Bearer <\(needed.rawValue) token>`.")
            headers = [Self.challenge(nil)]
        case .invalidToken, .invalidSubject:
            self.init(.unauthenticated)
            headers = [Self.challenge("invalid_token")]
        case .expired:
            self.init(.tokenExpired)
            headers = [Self.challenge("invalid_token")]
        case .wrongKind:
            self.init(.wrongTokenKind, detail: "This call takes a \(needed.rawValue) token.")
            headers = [Self.challenge("insufficient_scope")]
        }
    }

    private static func challenge(_ error: String?) -> Header {
        Header(name: "WWW-Authenticate", value: "Bearer realm=\"purser\"" + (error.map { ", error=\"\($0)\"" } ?? ""))
    }
}

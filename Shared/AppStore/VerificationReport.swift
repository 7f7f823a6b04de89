/// The steps of a verification, in the order they are taken.
public enum VerificationCheck: String, Sendable, CaseIterable {
    /// Size limits, before anything is decoded.
    case size
    /// Three strict base64url segments; header is strict JSON without critical extensions.
    case format
    /// `alg` is ES256.
    case algorithm
    /// Three readable certificates, the leaf with a P-256 key.
    case certificates
    /// The leaf's key, untrusted so far, made the signature.
    case signature
    /// The payload is strict JSON with a usable date.
    case payload
    /// The certificates lead to a pinned root, and each may be used so.
    case chain
    /// All certificates were valid at the signed date.
    case validity
    /// Leaf and intermediate carry Apple's marker extensions.
    case markers
    /// The signed date does not lie in the future.
    case clock
    /// The data is of the kind that was asked for.
    case kind
    /// Signed for an accepted app.
    case app
    /// Signed in an accepted environment.
    case environment
    /// Every field has the right type and range.
    case fields

    /// What it means that the check passed.
    public var explanation: String {
        switch self {
        case .size: "within the size limits"
        case .format: "three canonical base64url parts, strict JSON, nothing critical in the header"
        case .algorithm: "signed with ES256"
        case .certificates: "three certificates, the signing key is on P-256"
        case .signature: "made over exactly these bytes by the first certificate's key"
        case .payload: "strict JSON with a usable date"
        case .chain: "the certificates lead to a trusted root"
        case .markers: "they carry Apple's marks for signing App Store data"
        case .validity: "all certificates were valid when it was signed"
        case .clock: "not dated in the future"
        case .kind: "the expected kind of data"
        case .app: "signed for this app"
        case .environment: "signed in an accepted environment"
        case .fields: "every field is of the right type and in range"
        }
    }
}

/// What became of each check: for the command line and for support, never on the hot path.
public struct VerificationReport: Sendable, Equatable {
    /// How a check ended.
    public enum Outcome: String, Sendable {
        /// Done, and good.
        case passed
        /// Done, and not good: the verdict is "invalid".
        case failed
        /// A check before it failed.
        case notReached = "not reached"
        /// Nobody said what to compare with.
        case notAsked = "not asked"
    }

    /// One check.
    public struct Line: Sendable, Equatable {
        /// The step.
        public var check: VerificationCheck
        /// How it ended.
        public var outcome: Outcome
        /// Why, for a person.
        public var explanation: String
    }

    /// All checks in order.
    public private(set) var lines: [Line]

    /// A report with every check passed, except those that were not asked for.
    public init(passedExcept notAsked: [VerificationCheck: String] = [:]) {
        lines = VerificationCheck.allCases.map { check in
            if let reason = notAsked[check] { return Line(check: check, outcome: .notAsked, explanation: reason) }
            return Line(check: check, outcome: .passed, explanation: check.explanation)
        }
    }

    /// A report of a failure: what came before it passed, what comes after was not reached.
    public init(_ failure: VerificationFailure, notAsked: [VerificationCheck: String] = [:]) {
        var isReached = true
        lines = VerificationCheck.allCases.map { check in
            if check == failure.check {
                isReached = false
                return Line(check: check, outcome: .failed, explanation: failure.description)
            }
            if isReached, let reason = notAsked[check] {
                return Line(check: check, outcome: .notAsked, explanation: reason)
            }
            return Line(
                check: check, outcome: isReached ? .passed : .notReached,
                explanation: isReached ? check.explanation : "a check before it failed")
        }
    }

    /// Whether nothing failed.
    public var isValid: Bool { !lines.contains { $0.outcome == .failed } }
}

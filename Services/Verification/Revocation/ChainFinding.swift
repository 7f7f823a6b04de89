import Crypto

/// What two answers, or one and a trouble, say about a chain. Pure.
enum ChainFinding: Equatable {
    /// Both certificates are good.
    case good(ends: Int64)
    /// One is revoked (ms since 1970).
    case revoked(at: Int64, reason: RevocationReason?, ends: Int64)
    /// Nothing can be said yet.
    case open(CheckTroubleName)

    /// Why nothing can be said, and whether that may pass by itself.
    struct CheckTroubleName: Equatable {
        let name: String
        let isPassing: Bool
    }

    /// An answer counts for this long at most (ms), whatever it says of itself: Apple's live for half a day.
    static let longestLife: Int64 = 24 * 3_600_000
    /// One that does not say how long it counts, does for this long (ms): the longest step of the ladder.
    static let undatedLife: Int64 = 3_600_000

    /// Brings together what was found about leaf and intermediate, `now` (ms).
    init(_ parts: [Result<OCSPAnswer, CheckTrouble>], now: Int64) {
        var ends = now + Self.longestLife
        var revoked: (at: Int64, reason: RevocationReason?)?
        var troubles: [CheckTroubleName] = []
        for part in parts {
            switch part {
            case .failure(let trouble):
                troubles.append(CheckTroubleName(name: trouble.name, isPassing: trouble.isPassing))
                continue
            case .success(let answer):
                ends = min(ends, answer.nextUpdate.map { Self.milliseconds($0) } ?? (now + Self.undatedLife))
                switch answer.status {
                case .good: break
                case .unknown: troubles.append(CheckTroubleName(name: "unknown", isPassing: true))
                case .revoked(let at, let reason):
                    let found = (at: Self.milliseconds(at), reason: reason)
                    revoked = revoked.map { Self.worse($0, found) } ?? found
                }
            }
        }
        if let revoked {
            // Certain whatever the other answer would have been.
            self = .revoked(at: revoked.at, reason: revoked.reason, ends: ends)
        } else if let trouble = troubles.first(where: \.isPassing) ?? troubles.first {
            self = .open(trouble)
        } else {
            self = .good(ends: ends)
        }
    }

    /// A key in other hands is worse than any date; else what came first.
    private static func worse(
        _ one: (at: Int64, reason: RevocationReason?), _ other: (at: Int64, reason: RevocationReason?)
    ) -> (at: Int64, reason: RevocationReason?) {
        let compromised = (one.reason?.isCompromise ?? false, other.reason?.isCompromise ?? false)
        if compromised.0 != compromised.1 { return compromised.0 ? one : other }
        return one.at <= other.at ? one : other
    }

    /// Dates beyond the year 292,000,000 are the latest there is.
    static func milliseconds(_ seconds: Int64) -> Int64 {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        return overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// When to ask again (ms): well before the answer ends, so that an outage of some hours passes unnoticed; but not all
    /// the time where answers live for seconds.
    static func checkAgain(now: Int64, ends: Int64) -> Int64 { now + max(5_000, (ends - now) / 2) }
    /// When it is worth trying again where only an operator or another certificate can help (ms).
    static func tryAgain(now: Int64) -> Int64 { now + longestLife }
}

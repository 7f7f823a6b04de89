import JSON
import Messages
import Postgres

/// Whether the certificates that sign for us end soon, and whether Apple signs with others than before. Nothing has to be
/// done when Apple changes them in time; somebody should know that it has.
struct CertificateCheck {
    let sources: any Sources

    /// Before the end of the last one (ms): Apple changes them a month earlier.
    static let notice: Int64 = 14 * day
    /// After the first chain of all (ms): what is seen in the first day is what a deployment begins with.
    static let beginning: Int64 = day
    /// How long a chain is new (ms).
    static let novelty: Int64 = 7 * day

    private static let day: Int64 = 86_400_000

    /// What the chains mean at a time.
    struct Verdict: Equatable {
        /// Cases there are.
        var findings: [NewFinding] = []
        /// Chains of which an end is no case any more: there is one that ends later.
        var replaced: [String] = []
        /// Chains that are not new any more.
        var familiar: [String] = []
    }

    /// A look. Returns how many cases it has ended. Throws `RequestError`, and what the database throws.
    func run(_ now: Int64, _ connection: inout Connection) throws -> Int {
        let verdict = Self.judge(try sources.chains(), now: now)
        return try connection.transaction { transaction in
            _ = try FindingStore.open(verdict.findings, now: now, in: &transaction)
            let replaced = try FindingStore.resolve(
                [.certificateExpiring], subjects: verdict.replaced, reason: "another chain that ends later has signed",
                now: now, in: &transaction)
            let familiar = try FindingStore.resolve(
                [.certificateNew], subjects: verdict.familiar, reason: "known for a week", now: now, in: &transaction)
            return replaced + familiar
        }
    }

    /// Pure.
    static func judge(_ chains: [SignerChainState], now: Int64) -> Verdict {
        var verdict = Verdict()
        let last = chains.filter { $0.expiresAt != nil }.max { ($0.expiresAt ?? 0) < ($1.expiresAt ?? 0) }
        let first = chains.map(\.firstSeenAt).min() ?? now
        for chain in chains {
            if chain == last, let end = chain.expiresAt, end < now + notice {
                verdict.findings.append(finding(.certificateExpiring, chain))
            } else {
                verdict.replaced.append(chain.chain)
            }
            let isLater = chain.firstSeenAt > first + beginning
            if isLater, chain.firstSeenAt > now - novelty {
                verdict.findings.append(finding(.certificateNew, chain))
            } else {
                verdict.familiar.append(chain.chain)
            }
        }
        return verdict
    }

    private static func finding(_ kind: FindingKind, _ chain: SignerChainState) -> NewFinding {
        var evidence: JSONObject = [
            "certificate": .string(chain.subject), "serialNumber": .string(chain.serialNumber),
            "firstSeenAt": .integer(chain.firstSeenAt),
        ]
        if let end = chain.expiresAt { evidence.set("expiresAt", .integer(end)) }
        return NewFinding(kind, subject: chain.chain, evidence: evidence)
    }
}

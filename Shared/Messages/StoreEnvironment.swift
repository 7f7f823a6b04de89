/// Which of Apple's two books a transaction belongs to, spelled as Apple spells it in signed payloads.
///
/// Sandbox data is signed by the same certificates as Production's: this claim is the only thing that tells them apart.
/// Xcode and LocalTesting are no members: nothing from there can reach Granting.
public enum StoreEnvironment: String, Codable, Sendable, CaseIterable, Comparable {
    /// Money was charged.
    case production = "Production"
    /// A tester, TestFlight or App Review; no money was charged.
    case sandbox = "Sandbox"

    /// Order of the raw text, the order in which rows are locked.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

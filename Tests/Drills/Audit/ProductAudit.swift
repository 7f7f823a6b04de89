import TestSupport

/// What the product says about itself: `purser audit --full`. It comes last and replaces none of the drill's own checks.
struct ProductAudit {
    let site: Site
    let findings: Findings

    /// Exit codes of `purser audit`: 0 clean, 1 findings, 2 it could not run.
    func check() throws {
        let help = try site.attempt("purser", ["help"])
        // A build without the command has nothing to say.
        guard help.output.contains("audit") else { return print("  – purser audit: this build has none") }
        let outcome = try site.attempt("purser", ["audit", "--full", "--json"])
        findings.check(
            "AUDIT", "purser audit finds nothing", outcome.status == 0 ? [] : ["\(outcome.status): \(outcome.output)"])
    }
}

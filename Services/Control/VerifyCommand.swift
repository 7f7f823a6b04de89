import AppStore
import Crypto
import JOSE
import JSON

/// `purser verify`: checks one piece of signed data with the code the services use, and explains the verdict.
enum VerifyCommand {
    /// Valid.
    static let valid: Int32 = 0
    /// Not valid.
    static let invalid: Int32 = 1
    /// Wrong usage, or a file that cannot be read.
    static let unusable: Int32 = 2

    /// Runs the command; `output` gets one line at a time. Returns the exit status.
    static func run(arguments: [String], output: (String) -> Void) -> Int32 {
        do {
            let options = try VerifyOptions(arguments)
            guard let file = options.file, !options.wantsHelp else {
                output(VerifyOptions.usage)
                return valid
            }
            let roots = try options.trustedRoots()
            guard let content = SignedFile.read(file, limit: SignedFile.maximumBytes) else {
                throw VerifyOptions.Problem(text: "cannot read \(file)")
            }
            return verify(SignedFile.trimmed(content), options, roots, output)
        } catch let problem as VerifyOptions.Problem {
            output("purser verify: \(problem.text)")
            output("Try purser verify --help.")
        } catch {
            output("purser verify: \(error)")
        }
        return unusable
    }

    private static func verify(
        _ bytes: [UInt8], _ options: VerifyOptions, _ roots: [Certificate], _ output: (String) -> Void
    ) -> Int32 {
        if let explanation = SignedFile.explanation(bytes) {
            output(explanation)
            output("invalid: not a JWS")
            return invalid
        }
        if let environment = options.environment, AppStoreEnvironment(rawValue: environment) == nil {
            output(neverAccepted(environment))
            output("invalid: environment_mismatch")
            return invalid
        }
        var notAsked: [VerificationCheck: String] = [:]
        if options.bundleID == nil {
            let compared = options.appAppleID == nil ? "" : "; the Apple id was compared if the data has one"
            notAsked[.app] = "no --bundle was given\(compared)"
        }
        do throws(VerificationFailure) {
            let facts = try SignedDataInspector(roots: roots, options: options).inspect(bytes)
            for fact in facts.lines { output(fact) }
            if !facts.namesApp { notAsked[.app] = "this kind of data names no app" }
            show(VerificationReport(passedExcept: notAsked), output)
            output("valid: signed under a trusted root, every check asked for passed")
            return valid
        } catch {
            claims(bytes, isProven: provenBefore.contains(error.check), output)
            show(VerificationReport(error, notAsked: notAsked), output)
            output("invalid: \(error.reason.rawValue): \(error)")
            if error.isTransient { output("The same data may be accepted later.") }
            return invalid
        }
    }

    private static func show(_ report: VerificationReport, _ output: (String) -> Void) {
        for line in report.lines {
            // Columns as wide as the longest outcome and the longest name.
            output("  \(padded(line.outcome.rawValue, 12))\(padded(line.check.rawValue, 14))\(line.explanation)")
        }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    /// Failures of these checks come after signature and chain were found good.
    private static let provenBefore: [VerificationCheck] = [.clock, .kind, .app, .environment, .fields]

    /// What refused data says of itself: worth nothing as proof, but it helps to find out what was sent.
    private static func claims(_ bytes: [UInt8], isProven: Bool, _ output: (String) -> Void) {
        guard let jws = try? CompactJWS(bytes), let payload = try? jws.decodePayload(),
            let object = try? JSONReader.parseObject(payload)
        else { return }
        let kind = PayloadKind.detect(object)
        let name = kind?.rawValue ?? "none of the known kinds"
        output(isProven ? "kind: \(name)" : "claims to be: \(name) (not proven)")
        let environment = object[kind == .appTransaction ? "receiptType" : "environment"]?.stringValue
        if let environment, ["Xcode", "LocalTesting"].contains(environment) { output(neverAccepted(environment)) }
    }

    private static func neverAccepted(_ environment: String) -> String {
        "Data of the environment \(environment) is signed by a key anybody can make: it is never accepted."
    }
}

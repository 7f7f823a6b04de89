import AppStore
import Crypto
import Glibc

/// What `purser verify` was asked, or why it cannot be understood.
struct VerifyOptions {
    static let usage = """
        usage: purser verify [--root FILE]... [--bundle ID] [--environment Production|Sandbox]
                             [--app-apple-id N] [--at TIME] FILE|-

        Checks a JWS that Apple signed (transaction, renewal info, notification, app transaction)
        and says what each check found. Without --root, Apple's own roots are trusted.

          --root FILE        trust this root certificate instead (PEM or DER); may be repeated
          --bundle ID        the bundle id it must be signed for
          --environment E    the environment it must be signed in
          --app-apple-id N   Apple's number of the app, compared in Production
          --at TIME          judge as if it were this time: 2026-11-30T12:00:00Z or seconds since 1970

        Exit status: 0 valid, 1 invalid, 2 wrong usage or unreadable file.
        """

    /// Why a command line is refused.
    struct Problem: Error { var text: String }

    var roots: [String] = []
    var bundleID: String?
    var environment: String?
    var appAppleID: Int64?
    /// Milliseconds since 1970.
    var now: Int64
    var file: String?
    var wantsHelp = false

    init(_ arguments: [String]) throws(Problem) {
        now = Self.currentTime()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": wantsHelp = true
            case "--root": roots.append(try Self.value(of: argument, &rest))
            case "--bundle": bundleID = try Self.value(of: argument, &rest)
            case "--environment": environment = try Self.environment(Self.value(of: argument, &rest))
            case "--app-apple-id":
                guard let number = Int64(try Self.value(of: argument, &rest)) else {
                    throw Problem(text: "--app-apple-id must be a number")
                }
                appAppleID = number
            case "--at":
                guard let seconds = TimeText.seconds(try Self.value(of: argument, &rest)) else {
                    throw Problem(text: "--at must look like 2026-11-30T12:00:00Z, or be seconds since 1970")
                }
                now = seconds * 1000
            default:
                guard argument == "-" || !argument.hasPrefix("-") else {
                    throw Problem(text: "unknown option \(argument)")
                }
                guard file == nil else { throw Problem(text: "only one file can be checked at a time") }
                file = argument
            }
        }
        guard file != nil || wantsHelp else { throw Problem(text: "no file given; use - for standard input") }
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Problem) -> String {
        guard let value = rest.popFirst() else { throw Problem(text: "\(option) needs a value") }
        return value
    }

    /// Also the two environments that are never accepted are understood, so that this can be explained.
    private static func environment(_ text: String) throws(Problem) -> String {
        let known = AppStoreEnvironment.allCases.map(\.rawValue) + ["Xcode", "LocalTesting"]
        guard let match = known.first(where: { $0.lowercased() == text.lowercased() }) else {
            throw Problem(text: "--environment must be Production or Sandbox")
        }
        return match
    }

    private static func currentTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// The trusted roots: those given, else Apple's.
    func trustedRoots() throws(Problem) -> [Certificate] {
        do {
            if roots.isEmpty { return try AppleRoots.certificates() }
        } catch {
            throw Problem(text: "\(error)")
        }
        var certificates: [Certificate] = []
        for path in roots {
            guard let bytes = SignedFile.read(path, limit: SignedFile.maximumBytes) else {
                throw Problem(text: "cannot read the root certificate \(path)")
            }
            do {
                if bytes.starts(with: Array("-----BEGIN".utf8)) {
                    certificates += try Certificate.certificates(pem: String(decoding: bytes, as: UTF8.self))
                } else {
                    certificates.append(try Certificate(der: bytes))
                }
            } catch {
                throw Problem(text: "\(path) is no certificate in PEM or DER form")
            }
        }
        guard !certificates.isEmpty else { throw Problem(text: "the root files hold no certificate") }
        return certificates
    }
}

/// What names may look like, each with the words used in problems.
struct NameRule: Sendable {
    let text: String
    let isValid: @Sendable (String) -> Bool

    /// Also a file name, a queue argument and a metric label.
    static let appID = NameRule("1 to 32 of a-z, 0-9 and -") { isMade($0, of: lower, digits, "-", upTo: 32) }
    /// RFC 1123 names in lower case; `*` is every host.
    static let host = NameRule("a host name in lower case, or \"*\"") { $0 == "*" || isHostName($0) }
    /// What the calls themselves begin with is no part of a prefix: it would take calls away from the app without one.
    static let pathPrefix = NameRule("like /name or /name/other, without the words api, apple, iap") { text in
        text.utf8.first == UInt8(ascii: "/")
            && text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
                ![".", "..", "api", "apple", "iap"].contains($0)
                    && isMade(String($0), of: lower, upper, digits, "-._~", upTo: 64)
            }
    }
    /// CFBundleIdentifier's characters; 155 is what App Store Connect accepts.
    static let bundleID = NameRule("1 to 155 of A-Z, a-z, 0-9, . and -") {
        isMade($0, of: lower, upper, digits, ".-", upTo: 155)
    }
    /// Issuers and audiences are compared byte by byte: only what is printed as it is.
    static let tokenName = NameRule("1 to 255 printable ASCII characters without spaces") { text in
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
    static let keyID = NameRule("1 to 64 of A-Z, a-z, 0-9, ., _ and -") {
        isMade($0, of: lower, upper, digits, "._-", upTo: 64)
    }
    /// App Store Connect shows a UUID.
    static let issuerID = NameRule("App Store Connect's issuer id, a UUID") {
        let parts = $0.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && parts.allSatisfy { isMade($0, of: digits, "abcdefABCDEF", upTo: 12) }
    }
    /// What PostgreSQL does not know counts as UTC: which names there are changes with every edition of the time zones.
    static let timeZone = NameRule("an IANA name like Asia/Shanghai") {
        isMade($0, of: lower, upper, digits, "/_+-", upTo: 64) && starts($0, with: upper)
    }
    static let path = NameRule("a path") { !$0.isEmpty && $0.utf8.count <= 1_024 && !hasControls($0) }
    static let assetID = NameRule("1 to 32 of A-Z, 0-9 and _, starting with A-Z") {
        isMade($0, of: upper, digits, "_", upTo: 32) && starts($0, with: upper)
    }
    static let jsonName = NameRule("1 to 32 of A-Z, a-z and 0-9, starting with a-z") {
        isMade($0, of: lower, upper, digits, upTo: 32) && starts($0, with: lower)
    }
    static let productCode = NameRule("1 to 64 of A-Z, a-z, 0-9 and _") {
        isMade($0, of: upper, lower, digits, "_", upTo: 64)
    }
    /// App Store Connect's product ids.
    static let productID = NameRule("1 to 128 of A-Z, a-z, 0-9, . and _") {
        isMade($0, of: lower, upper, digits, "._", upTo: 128)
    }
    static let entitlementID = NameRule("1 to 64 of a-z, 0-9, - and _") {
        isMade($0, of: lower, digits, "-_", upTo: 64)
    }
    static let userID = NameRule("1 to 128 bytes without control characters") {
        (1...128).contains($0.utf8.count) && !hasControls($0)
    }
    /// ISO 4217.
    static let currency = NameRule("three letters A-Z, as CNY") {
        $0.utf8.count == 3 && isMade($0, of: upper, upTo: 3)
    }
    static let remark = NameRule("at most 255 characters without control characters") {
        $0.count <= 255 && !hasControls($0)
    }

    private static let lower = "abcdefghijklmnopqrstuvwxyz"
    private static let upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    private static let digits = "0123456789"

    private init(_ text: String, _ isValid: @escaping @Sendable (String) -> Bool) {
        self.text = text
        self.isValid = isValid
    }

    private static func isMade(_ text: String, of alphabets: String..., upTo limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in alphabets.contains { $0.utf8.contains(byte) } }
    }

    private static func isHostName(_ text: String) -> Bool {
        text.utf8.count <= 253
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy {
                isMade(String($0), of: lower, digits, "-", upTo: 63) && !$0.hasPrefix("-") && !$0.hasSuffix("-")
            }
    }

    private static func starts(_ text: String, with alphabet: String) -> Bool {
        text.utf8.first.map { alphabet.utf8.contains($0) } ?? false
    }

    private static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

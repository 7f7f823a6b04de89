import FoundationEssentials
import Glibc
public import Observability

/// Reads a service's settings from the environment, once, and remembers every problem instead of stopping at the first.
///
/// A setting `AMQP_URL` of the service `granting` is the variable `PURSER_GRANTING_AMQP_URL`. Any setting may be given
/// as `<VARIABLE>_FILE`, the path of a file with the value, so that secrets need not stand in the environment; a
/// secret's file must be its owner's alone. Variables with the service's prefix that nobody reads are problems too: they
/// are usually misspelt.
public struct SettingsReader {
    /// One setting as it took effect.
    public struct Effective: Sendable {
        /// The variable.
        public let variable: String
        /// What it is for.
        public let meaning: String
        /// The value, `***` for secrets, nil when unset.
        public let value: String?
        /// Whether the default was taken.
        public let isDefault: Bool
    }

    /// The service's name in the variables, e.g. `GRANTING`.
    public let prefix: String
    /// Every problem found so far, a sentence each.
    public private(set) var problems: [String] = []
    /// Every setting read so far, in order.
    public private(set) var effective: [Effective] = []
    private let environment: [String: String]

    /// A reader for `service` (lower case, may hold `-`).
    public init(service: String, environment: [String: String]) {
        prefix = "PURSER_" + service.uppercased().replacing("-", with: "_") + "_"
        self.environment = environment
    }

    /// A text. Without a default it must be set and not empty.
    public mutating func text(_ name: String, default fallback: String? = nil, meaning: String) -> String {
        read(name, fallback, meaning, isSecret: false) ?? ""
    }

    /// A text that may be absent.
    public mutating func optionalText(_ name: String, meaning: String) -> String? {
        let value = raw(name, isSecret: false)
        note(name, value, isDefault: value == nil, meaning, isSecret: false)
        return value
    }

    /// A secret. Without a default it must be set and not empty.
    public mutating func secret(_ name: String, meaning: String) -> Secret {
        Secret(read(name, nil, meaning, isSecret: true) ?? "")
    }

    /// A secret that may be absent.
    public mutating func optionalSecret(_ name: String, meaning: String) -> Secret? {
        let value = raw(name, isSecret: true)
        note(name, value, isDefault: value == nil, meaning, isSecret: true)
        return value.map { Secret($0) }
    }

    /// A whole number within `range`.
    public mutating func integer(
        _ name: String, default fallback: Int, in range: ClosedRange<Int>, meaning: String
    ) -> Int {
        guard let text = read(name, String(fallback), meaning, isSecret: false) else { return fallback }
        guard let value = Int(text), range.contains(value) else {
            problem(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            return fallback
        }
        return value
    }

    /// One of a fixed list of words.
    public mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, default fallback: Choice, meaning: String
    ) -> Choice where Choice.RawValue == String {
        guard let text = read(name, fallback.rawValue, meaning, isSecret: false) else { return fallback }
        guard let value = Choice(rawValue: text) else {
            problem(name, "must be one of: " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
            return fallback
        }
        return value
    }

    /// Adds a problem with a setting that was read; for checks that need more than its text.
    public mutating func problem(_ name: String, _ sentence: String) {
        problems.append("\(prefix)\(name) \(sentence).")
    }

    /// Call after everything was read: variables that nobody asked for.
    public mutating func finish() {
        let known = Set(effective.flatMap { [$0.variable, $0.variable + "_FILE"] })
        for variable in environment.keys.sorted() where variable.hasPrefix(prefix) && !known.contains(variable) {
            problems.append("\(variable) is no setting of this service; is it misspelt?")
        }
    }

    private mutating func read(_ name: String, _ fallback: String?, _ meaning: String, isSecret: Bool) -> String? {
        let value = raw(name, isSecret: isSecret)
        let result = value ?? fallback
        note(name, result, isDefault: value == nil, meaning, isSecret: isSecret)
        if result == nil || result == "" { problem(name, "must be set: \(meaning)") }
        return result == "" ? nil : result
    }

    private mutating func raw(_ name: String, isSecret: Bool) -> String? {
        let direct = environment[prefix + name]
        guard let path = environment[prefix + name + "_FILE"] else { return direct }
        guard direct == nil else {
            problem(name, "is set twice, directly and by _FILE")
            return direct
        }
        guard let data = try? Data(contentsOf: URL(filePath: path)), data.count <= 65_536,
            let text = String(validating: data, as: UTF8.self)
        else {
            problem(name + "_FILE", "names a file that cannot be read as text: \(path)")
            return nil
        }
        if isSecret, Self.isOpenToOthers(path) {
            problem(name + "_FILE", "names a file that others can read or write; run chmod 600 \(path)")
        }
        // Editors and `echo` end files with a newline that is no part of the value.
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    private static func isOpenToOthers(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & 0o077 != 0
    }

    private mutating func note(_ name: String, _ value: String?, isDefault: Bool, _ meaning: String, isSecret: Bool) {
        effective.append(
            Effective(
                variable: prefix + name, meaning: meaning, value: isSecret && value != nil ? "***" : value,
                isDefault: isDefault))
    }
}

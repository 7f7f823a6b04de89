import FoundationEssentials
import JSON

/// The strict JSON reader. What it accepts, its writer writes back unchanged, and Foundation's reader accepts too.
struct JSONTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = [
        "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u0000", "\\ud800", "\\udc00", "\\ud83d\\ude00", "\\/", "null",
        "true",
        "false", "-0", "1e400", "1E-400", "0.1", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "01", "1.", "+1", "NaN", "\u{FEFF}", "\u{0}", "é", "e\u{301}", "{\"a\":1,\"a\":2}", "[[[[[[[[[[[[[[[[",
        "{\"a\":{\"a\":{\"a\":{\"a\":", "/*x*/", "\t\r\n ", "\u{202E}", "__proto__",
    ]

    init(_ files: FuzzFiles) {
        seeds =
            files.corpus("json") + FileBytes.folder("\(files.fixtures)/apple/models").map(\.bytes)
            + FileBytes.folder("\(files.fixtures)/messages").map(\.bytes)
    }

    /// Half of them are JSON still, so that what comes after the grammar is tried too.
    mutating func make(from seed: [UInt8], by mutator: inout Mutator) -> [UInt8] {
        guard mutator.chance(2), let value = try? JSONReader.parse(seed) else { return mutator.damage(seed, words) }
        var generator = JSONDamage(mutator: mutator)
        let changed = generator.change(value)
        mutator = generator.mutator
        return JSONWriter.write(changed)
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        guard let value = try? JSONReader.parse(input) else { return false }
        let written = JSONWriter.write(value)
        guard let again = try? JSONReader.parse(written) else {
            throw Violation(what: "it does not read what it wrote")
        }
        try Violation.unless(again == value, "what was written is read as something else")
        try Violation.unless(JSONWriter.write(again) == written, "the same value is written in two ways")
        let isKnown = (try? JSONDecoder().decode(Anything.self, from: Data(input))) != nil
        try Violation.unless(isKnown, "Foundation's reader refuses what this one accepts")
        return true
    }

    /// Any JSON at all.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }
}

/// Changes values inside JSON that stays JSON.
struct JSONDamage {
    var mutator: Mutator

    private static let texts = [
        "", "\\", "\"", "'; DROP TABLE x; --", "%", "a\r\nb", "\u{1B}[31m", "é", "e\u{301}", "\u{202E}", "😀",
        "com.example.game", "Production", "Sandbox", "Xcode", "FAMILY_SHARED", "7e3fb20b-4cdb-47cc-936d-99d65f608138",
    ]
    private static let numbers: [Int64] = [
        0, 1, -1, 100, 101, .max, .min, 1 << 53, 1 << 53 + 1, 1_796_083_200_000, 1_199_145_600_000, 253_402_300_800_000,
    ]

    /// The value with one change somewhere in it.
    mutating func change(_ value: JSONValue) -> JSONValue {
        if mutator.chance(6) { return other() }
        switch value {
        case .array(var elements) where !elements.isEmpty:
            let place = mutator.number(0..<elements.count)
            switch mutator.number(0..<4) {
            case 0: elements.remove(at: place)
            case 1: elements.insert(elements[place], at: place)
            default: elements[place] = change(elements[place])
            }
            return .array(elements)
        case .object(let object) where object.count > 0:
            let place = mutator.number(0..<object.count)
            var members = object.members
            switch mutator.number(0..<5) {
            case 0: members.remove(at: place)
            case 1: members.append(("new", other()))
            default: members[place].value = change(members[place].value)
            }
            return .object(JSONObject(members))
        default: return other()
        }
    }

    private mutating func other() -> JSONValue {
        switch mutator.number(0..<7) {
        case 0: return nil
        case 1: return .bool(mutator.chance(2))
        case 2: return .integer(mutator.one(of: Self.numbers) ?? 0)
        case 3: return JSONNumber(Double(mutator.number(-5..<5)) / 3).map { .number($0) } ?? nil
        case 4: return .array([other(), other()])
        case 5:
            var text = mutator.one(of: Self.texts) ?? ""
            if mutator.chance(8) { text = String(repeating: text, count: mutator.number(1..<2_000)) }
            return .string(text)
        default: return .object(["a": other(), "bundleId": other()])
        }
    }
}

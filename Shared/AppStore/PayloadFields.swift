import JSON

/// Reads the fields of one signed payload strictly: a wrong type is a failure that names the field.
///
/// `null` counts as absent. Unknown fields are left alone, unknown values of enumerations stay text.
struct PayloadFields {
    /// 2008-07-10, the day the App Store opened, rounded to its year, in ms: no date that decides anything is older.
    static let earliestDate: Int64 = 1_199_145_600_000
    /// Ten years in ms: no date that decides anything lies further ahead.
    static let furthestAhead: Int64 = 3650 * 86_400_000

    let object: JSONObject
    /// Milliseconds since 1970.
    let now: Int64
    /// The step that a failure belongs to.
    var check = VerificationCheck.fields

    func failure(_ key: String, _ problem: String) -> VerificationFailure {
        .field(key, problem, check)
    }

    private func failure(_ key: String, _ error: JSONError) -> VerificationFailure {
        switch error.kind {
        case .missing: failure(key, "is missing")
        case .wrongType: failure(key, "has the wrong type")
        case .notAnInteger: failure(key, "is not a whole number that fits 64 bits")
        default: failure(key, "is not acceptable (\(error.kind.rawValue))")
        }
    }

    func text(_ key: String) throws(VerificationFailure) -> String? {
        do { return try object.optionalString(key) } catch { throw failure(key, error) }
    }

    func requiredText(_ key: String) throws(VerificationFailure) -> String {
        guard let text = try text(key) else { throw failure(key, "is missing") }
        return text
    }

    func bool(_ key: String) throws(VerificationFailure) -> Bool? {
        do { return try object.optionalBool(key) } catch { throw failure(key, error) }
    }

    func texts(_ key: String) throws(VerificationFailure) -> [String]? {
        do { return try object.optionalStrings(key) } catch { throw failure(key, error) }
    }

    func object(_ key: String) throws(VerificationFailure) -> JSONObject? {
        do { return try object.optionalObject(key) } catch { throw failure(key, error) }
    }

    /// The fields of an object inside.
    func inner(_ key: String) throws(VerificationFailure) -> PayloadFields? {
        guard let inner = try object(key) else { return nil }
        return PayloadFields(object: inner, now: now, check: check)
    }

    func integer(
        _ key: String, in range: ClosedRange<Int64> = Int64.min...Int64.max
    ) throws(VerificationFailure) -> Int64? {
        let value: Int64?
        do { value = try object.optionalInt64(key) } catch { throw failure(key, error) }
        guard let value else { return nil }
        guard range.contains(value) else { throw failure(key, "is \(value), outside \(range)") }
        return value
    }

    /// An id of Apple's: 1 to 20 decimal digits.
    func identifier(_ key: String) throws(VerificationFailure) -> String? {
        guard let text = try text(key) else { return nil }
        let isDigits = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isDigits, (1...20).contains(text.utf8.count) else { throw failure(key, "is not 1 to 20 digits") }
        return text
    }

    func uuid(_ key: String) throws(VerificationFailure) -> AppStoreUUID? {
        guard let text = try text(key) else { return nil }
        guard let uuid = AppStoreUUID(text) else { throw failure(key, "is not a UUID") }
        return uuid
    }

    /// A date that something is decided on: whole milliseconds between 2008 and ten years from now.
    func date(_ key: String) throws(VerificationFailure) -> Int64? {
        guard let value = try integer(key) else { return nil }
        let latest = now.addingReportingOverflow(Self.furthestAhead).partialValue
        guard value >= Self.earliestDate, value <= latest else {
            throw failure(key, "is \(value) ms, which is before 2008 or more than ten years ahead")
        }
        return value
    }

    /// A date that is only shown: fractions are cut toward zero and years before 1970 taken, as Xcode's data has both.
    func lenientDate(_ key: String) throws(VerificationFailure) -> Int64? {
        switch object[key] {
        case nil, .null: return nil
        case .integer(let value): return value
        case .number(let number):
            guard let value = number.doubleValue, let whole = Int64(exactly: value.rounded(.towardZero)) else {
                throw failure(key, "is not a date")
            }
            return whole
        default: throw failure(key, "has the wrong type")
        }
    }
}

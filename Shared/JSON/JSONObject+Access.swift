/// Typed access. A required member must be there and not null; an optional one may be absent or null, but if it is
/// there it must have the type. Errors carry the name of the member; `read` and `readEach` add the outer names.
extension JSONObject {
    /// The value of a member that must be there and not be null.
    public func value(_ key: String) throws(JSONError) -> JSONValue {
        guard let value = self[key], !value.isNull else { throw JSONError(.missing, path: key) }
        return value
    }

    /// A required string.
    public func string(_ key: String) throws(JSONError) -> String {
        guard let value = try optionalString(key) else { throw JSONError(.missing, path: key) }
        return value
    }

    /// An optional string.
    public func optionalString(_ key: String) throws(JSONError) -> String? {
        switch self[key] {
        case .string(let value): value
        case nil, .null: nil
        default: throw JSONError(.wrongType, path: key)
        }
    }

    /// A required 64-bit integer: `1.0`, `1e2` and `-0` are refused.
    public func int64(_ key: String) throws(JSONError) -> Int64 {
        guard let value = try optionalInt64(key) else { throw JSONError(.missing, path: key) }
        return value
    }

    /// An optional 64-bit integer.
    public func optionalInt64(_ key: String) throws(JSONError) -> Int64? {
        switch self[key] {
        case .integer(let value): value
        case nil, .null: nil
        case .number: throw JSONError(.notAnInteger, path: key)
        default: throw JSONError(.wrongType, path: key)
        }
    }

    /// A required integer within a range.
    public func int64(_ key: String, in range: ClosedRange<Int64>) throws(JSONError) -> Int64 {
        let value = try int64(key)
        guard range.contains(value) else { throw JSONError(.outOfRange, path: key) }
        return value
    }

    /// An optional integer within a range.
    public func optionalInt64(_ key: String, in range: ClosedRange<Int64>) throws(JSONError) -> Int64? {
        guard let value = try optionalInt64(key) else { return nil }
        guard range.contains(value) else { throw JSONError(.outOfRange, path: key) }
        return value
    }

    /// A required truth value.
    public func bool(_ key: String) throws(JSONError) -> Bool {
        guard let value = try optionalBool(key) else { throw JSONError(.missing, path: key) }
        return value
    }

    /// An optional truth value.
    public func optionalBool(_ key: String) throws(JSONError) -> Bool? {
        switch self[key] {
        case .bool(let value): value
        case nil, .null: nil
        default: throw JSONError(.wrongType, path: key)
        }
    }

    /// A required object.
    public func object(_ key: String) throws(JSONError) -> JSONObject {
        guard let value = try optionalObject(key) else { throw JSONError(.missing, path: key) }
        return value
    }

    /// An optional object.
    public func optionalObject(_ key: String) throws(JSONError) -> JSONObject? {
        switch self[key] {
        case .object(let value): value
        case nil, .null: nil
        default: throw JSONError(.wrongType, path: key)
        }
    }

    /// A required array.
    public func array(_ key: String) throws(JSONError) -> [JSONValue] {
        guard let value = try optionalArray(key) else { throw JSONError(.missing, path: key) }
        return value
    }

    /// An optional array.
    public func optionalArray(_ key: String) throws(JSONError) -> [JSONValue]? {
        switch self[key] {
        case .array(let value): value
        case nil, .null: nil
        default: throw JSONError(.wrongType, path: key)
        }
    }

    /// A required array of strings.
    public func strings(_ key: String) throws(JSONError) -> [String] {
        guard let value = try optionalStrings(key) else { throw JSONError(.missing, path: key) }
        return value
    }

    /// An optional array of strings.
    public func optionalStrings(_ key: String) throws(JSONError) -> [String]? {
        guard let values = try optionalArray(key) else { return nil }
        var result: [String] = []
        result.reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            guard let text = value.stringValue else { throw JSONError(.wrongType, path: "\(key)[\(index)]") }
            result.append(text)
        }
        return result
    }

    /// Reads a required inner object; errors of the body get this key in front.
    public func read<Result>(
        _ key: String, _ body: (JSONObject) throws(JSONError) -> Result
    ) throws(JSONError) -> Result {
        let inner = try object(key)
        do {
            return try body(inner)
        } catch {
            throw error.inside(key)
        }
    }

    /// Reads every object of a required array; errors of the body get this key and the index in front.
    public func readEach<Result>(
        _ key: String, _ body: (JSONObject) throws(JSONError) -> Result
    ) throws(JSONError) -> [Result] {
        var results: [Result] = []
        for (index, value) in try array(key).enumerated() {
            let place = "\(key)[\(index)]"
            guard let inner = value.objectValue else { throw JSONError(.wrongType, path: place) }
            do {
                results.append(try body(inner))
            } catch {
                throw error.inside(place)
            }
        }
        return results
    }
}

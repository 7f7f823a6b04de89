import JSON

/// Compares values with the JSON Schemas of an OpenAPI document: as much of the language as the descriptions use, and
/// stricter in one thing: a member that is not described is a difference.
struct SchemaCheck {
    let document: JSONObject

    /// Words of the language that say nothing about a value.
    private static let silent: Set = ["description", "format", "default", "example", "$ref"]

    /// Where `value` is not what `schema` says.
    func differences(_ value: JSONValue, _ schema: JSONObject, at place: String = "body") -> [String] {
        guard let schema = resolved(schema) else { return ["\(place): a reference leads nowhere"] }
        return schema.members.flatMap { word, rule -> [String] in
            switch word {
            case "allOf":
                return each(rule).flatMap { differences(value, $0, at: place) }
            case "oneOf":
                let fitting = each(rule).count { differences(value, $0, at: place).isEmpty }
                return fitting == 1 ? [] : ["\(place): \(fitting) of the choices fit"]
            case "properties": return members(value, rule, isStrict: schema["type"] != nil, schema, place)
            case "additionalProperties":
                return rule.objectValue.map { rest(value, $0, besides: schema, place) } ?? []
            case "items":
                return (value.arrayValue ?? []).enumerated().flatMap { index, element in
                    differences(element, rule.objectValue ?? [:], at: "\(place)[\(index)]")
                }
            default: return isMet(word, rule, value) ? [] : ["\(place): \(word) is not met"]
            }
        }
    }

    /// What a reference leads to, or the object itself; nil if it leads nowhere.
    func resolved(_ object: JSONObject) -> JSONObject? {
        guard let reference = object["$ref"]?.stringValue else { return object }
        var place = document
        for name in reference.dropFirst(2).split(separator: "/") {
            guard let next = place[String(name)]?.objectValue else { return nil }
            place = next
        }
        return place
    }

    private func each(_ rule: JSONValue) -> [JSONObject] { (rule.arrayValue ?? []).compactMap(\.objectValue) }

    private func members(
        _ value: JSONValue, _ rule: JSONValue, isStrict: Bool, _ schema: JSONObject, _ place: String
    ) -> [String] {
        guard let object = value.objectValue, let known = rule.objectValue else { return [] }
        return object.members.flatMap { name, member -> [String] in
            if let inner = known[name]?.objectValue { return differences(member, inner, at: "\(place).\(name)") }
            let isOpen = !isStrict || schema["additionalProperties"]?.objectValue != nil
            return isOpen ? [] : ["\(place).\(name) is not described"]
        }
    }

    private func rest(_ value: JSONValue, _ rule: JSONObject, besides schema: JSONObject, _ place: String) -> [String] {
        let known = schema["properties"]?.objectValue?.keys ?? []
        return (value.objectValue?.members ?? []).filter { !known.contains($0.key) }.flatMap {
            differences($0.value, rule, at: "\(place).\($0.key)")
        }
    }

    private func isMet(_ word: String, _ rule: JSONValue, _ value: JSONValue) -> Bool {
        switch word {
        case "type": (rule.arrayValue ?? [rule]).contains { $0.stringValue.map { isOf($0, value) } ?? false }
        case "const": value == rule
        case "enum": rule.arrayValue?.contains(value) ?? false
        case "required": (rule.arrayValue ?? []).allSatisfy { value.objectValue?[$0.stringValue ?? ""] != nil }
        case "minimum": number(value).map { $0 >= number(rule) ?? .infinity } ?? true
        case "exclusiveMinimum": number(value).map { $0 > number(rule) ?? .infinity } ?? true
        case "maximum": number(value).map { $0 <= number(rule) ?? -.infinity } ?? true
        case "minLength": value.stringValue.map { $0.unicodeScalars.count >= rule.intValue ?? .max } ?? true
        case "maxLength": value.stringValue.map { $0.unicodeScalars.count <= rule.intValue ?? 0 } ?? true
        case "maxItems": value.arrayValue.map { $0.count <= rule.intValue ?? 0 } ?? true
        case "pattern":
            value.stringValue.map { text in
                rule.stringValue.flatMap { try? Regex($0) }.map { text.firstMatch(of: $0) != nil } ?? false
            } ?? true
        default: Self.silent.contains(word)
        }
    }

    private func isOf(_ type: String, _ value: JSONValue) -> Bool {
        switch (type, value) {
        case ("object", .object), ("array", .array), ("string", .string), ("boolean", .bool), ("null", .null): true
        case ("integer", .integer), ("number", .integer), ("number", .number): true
        default: false
        }
    }

    private func number(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .number(let number): number.doubleValue
        default: nil
        }
    }
}

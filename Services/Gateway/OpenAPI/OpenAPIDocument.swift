import JSON

/// The OpenAPI 3.1 description of one surface, as `/openapi.json` serves it.
///
/// What is particular to a call is written by hand in `Descriptions/<surface>.json`: what it is for, its parameters,
/// bodies, examples, and the codes of its own problems. What follows from the code is added here: who may call, header
/// fields, and every problem with its status, title and advice from the ``ProblemCatalog``. So a code is described in one
/// place, and tests compare the rest with what the gateway answers.
struct OpenAPIDocument: Sendable {
    private let document: JSONObject

    /// The version of what is described; a member or code that is added does not change it.
    private static let version = "1"

    /// Describes `endpoints`. `description` and `common` are files of `Descriptions`; a call that neither has is left out
    /// (a test looks for it).
    init(_ endpoints: [(method: String, endpoint: Endpoint)], description: [UInt8], common: [UInt8]) {
        // The files are part of the executable and read by tests: what cannot be read describes nothing.
        let own = (try? JSONReader.parseObject(description)) ?? [:]
        let shared = (try? JSONReader.parseObject(common)) ?? [:]
        var info = own["info"]?.objectValue ?? ["title": "Purser"]
        info.set("version", .string(Self.version))
        var components = Self.merged(own.part("components"), shared.part("components"))
        let responses = Self.merged(Self.responses(components.part("responses")), OpenAPIProblems.shared)
        components.set("responses", .object(responses))
        components.set("examples", .object(OpenAPIProblems.examples))
        document = [
            "openapi": "3.1.0", "info": .object(info),
            "paths": .object(Self.paths(endpoints, own.part("paths"), shared)), "components": .object(components),
        ]
    }

    /// The description of an app whose paths begin with `prefix`.
    func served(under prefix: String) -> JSONObject {
        var result = JSONObject()
        for (key, value) in document.members {
            result.set(key, value)
            if key == "info" { result.set("servers", [["url": .string(prefix.isEmpty ? "/" : prefix)]]) }
        }
        return result
    }

    private static func paths(
        _ endpoints: [(method: String, endpoint: Endpoint)], _ own: JSONObject, _ shared: JSONObject
    ) -> JSONObject {
        let operations = shared.part("operations")
        var paths = JSONObject()
        for (method, endpoint) in endpoints {
            let key = method.lowercased()
            let path = own[endpoint.route] ?? shared.part("paths")[endpoint.route]
            guard var written = path?.objectValue?[key]?.objectValue else { continue }
            if let name = written["$use"]?.stringValue { written = merged(written, operations.part(name)) }
            var item = paths.part(endpoint.route)
            item.set(key, .object(operation(written, endpoint)))
            paths.set(endpoint.route, .object(item))
        }
        return paths
    }

    private static func operation(_ written: JSONObject, _ endpoint: Endpoint) -> JSONObject {
        var operation = JSONObject()
        for (key, value) in written.members where !["$use", "problems", "responses"].contains(key) {
            operation.set(key, value)
        }
        operation.set("security", .array(endpoint.token.map { [.object([$0.rawValue: []])] } ?? []))
        var responses = responses(written.part("responses"))
        let codes = (written["problems"]?.arrayValue ?? []).compactMap { $0.stringValue.flatMap(ProblemCode.init) }
        for (status, response) in OpenAPIProblems.responses(own: codes, hasToken: endpoint.token != nil).members {
            responses.set(status, response)
        }
        operation.set("responses", .object(responses))
        return operation
    }

    /// Successes with the header fields that every answer has.
    private static func responses(_ written: JSONObject) -> JSONObject {
        JSONObject(
            written.members.map { key, value in
                guard var response = value.objectValue, response["$ref"] == nil else { return (key, value) }
                response.set("headers", .object(OpenAPIProblems.headers))
                return (key, .object(response))
            })
    }

    /// Members of both; objects of both are merged, of other values the first one's stays.
    private static func merged(_ first: JSONObject, _ second: JSONObject) -> JSONObject {
        var result = first
        for (key, value) in second.members {
            guard let there = first[key] else {
                result.set(key, value)
                continue
            }
            if let there = there.objectValue, let more = value.objectValue {
                result.set(key, .object(merged(there, more)))
            }
        }
        return result
    }
}

extension JSONObject {
    /// The member as an object; an empty one if it is none.
    fileprivate func part(_ key: String) -> JSONObject { self[key]?.objectValue ?? [:] }
}

import Apps
import HTTPServer
import JSON

@testable import Gateway

/// The OpenAPI description of a surface, as something that answers are compared with.
struct Contract {
    let document: JSONObject

    /// The description of `surface`; nil if none is served.
    init?(_ surfaces: Surfaces, _ surface: AppConfiguration.Surface) {
        guard let document = surfaces.document(of: surface)?.served(under: "") else { return nil }
        self.document = document
    }

    /// Every operation as `GET /path`, with its description.
    var operations: [(name: String, operation: JSONObject)] {
        (document["paths"]?.objectValue?.members ?? []).flatMap { path, item in
            (item.objectValue?.members ?? []).compactMap { method, operation in
                operation.objectValue.map { ("\(method.uppercased()) \(path)", $0) }
            }
        }
    }

    /// What of an answer the description does not have. Paths and methods it does not have are answered 404 and 405 by
    /// the router, and are nothing of a surface's.
    func differences(_ method: String, _ path: String, _ response: HTTPResponse) -> [String] {
        guard let operation = operation(method == "HEAD" ? "GET" : method, path) else { return [] }
        guard let answer = resolved(operation["responses"]?.objectValue?[String(response.status)]) else {
            return ["the status \(response.status) (\(response.code ?? "")) is not described"]
        }
        var found: [String] = []
        for name in ["X-Request-Id", "Cache-Control"] where response.header(name) == nil {
            found.append("the header \(name) is missing")
        }
        let described = answer["headers"]?.objectValue?.keys ?? []
        for name in ["Retry-After", "Allow", "WWW-Authenticate"] where response.header(name) != nil {
            if !described.contains(name) { found.append("the header \(name) is not described") }
        }
        return found + differences(of: response, from: answer)
    }

    private func differences(of response: HTTPResponse, from answer: JSONObject) -> [String] {
        guard let content = answer["content"]?.objectValue else {
            return response.body.isEmpty ? [] : ["a body is not described"]
        }
        let type = response.header("Content-Type") ?? ""
        guard let schema = content[type]?.objectValue?["schema"]?.objectValue else {
            return ["the media type \(type) is not described"]
        }
        guard let value = try? JSONReader.parse(response.body) else { return ["the body is not JSON"] }
        return SchemaCheck(document: document).differences(value, schema)
    }

    /// Whether each example of a success is what its schema says.
    var wrongExamples: [String] {
        operations.flatMap { name, operation in
            let answers = (operation["responses"]?.objectValue?.members ?? []).compactMap { resolved($0.value) }
            let bodies = answers + [resolved(operation["requestBody"])].compactMap { $0 }
            return bodies.flatMap { wrongExamples(of: $0).map { "\(name): \($0)" } }
        }
    }

    private func wrongExamples(of body: JSONObject) -> [String] {
        (body["content"]?.objectValue?.members ?? []).flatMap { _, media -> [String] in
            guard let media = media.objectValue, let schema = media["schema"]?.objectValue else { return [] }
            let named = (media["examples"]?.objectValue?.members ?? []).compactMap { resolved($0.value)?["value"] }
            return (named + [media["example"]].compactMap { $0 }).flatMap {
                SchemaCheck(document: document).differences($0, schema)
            }
        }
    }

    private func operation(_ method: String, _ path: String) -> JSONObject? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let fitting = operations.filter { name, _ in
            guard name.hasPrefix(method + " ") else { return false }
            let template = name.dropFirst(method.count + 1).split(separator: "/", omittingEmptySubsequences: false)
            return template.count == parts.count
                && zip(template, parts).allSatisfy { $0 == $1 || ($0.hasPrefix("{") && !$1.isEmpty) }
        }
        return (fitting.first { $0.name.hasSuffix(" " + path) } ?? fitting.first)?.operation
    }

    /// The object, or what its reference leads to.
    func resolved(_ value: JSONValue?) -> JSONObject? {
        guard let object = value?.objectValue else { return nil }
        return SchemaCheck(document: document).resolved(object)
    }
}

import JSON

/// How problems stand in the OpenAPI description: a response for each status, with the codes it can carry.
enum OpenAPIProblems {
    /// What any request can be answered, whatever it is for.
    static let ofEveryCall: [ProblemCode] = [
        .malformedRequest, .appNotFound, .notFound, .methodNotAllowed, .requestTimeout, .payloadTooLarge,
        .unsupportedMediaType, .tooManyRequests, .headersTooLarge, .internalError, .serviceBusy,
        .unsupportedHTTPVersion,
    ]
    /// What a call can be answered that takes a token.
    static let ofTokens: [ProblemCode] = [.unauthenticated, .tokenExpired, .wrongTokenKind]

    /// Statuses that the HTTP library may answer before a request is read, with a page of its own.
    private static let statusesOfLibrary: Set = [400, 413, 431, 505]
    /// Stands for the id of a request in examples.
    private static let exampleID = "0b9d8a4e-6f0c-4c1d-9a58-2f7f3f1f7a10"

    /// Header fields of every answer.
    static let headers: JSONObject = [
        "X-Request-Id": ["$ref": "#/components/headers/RequestId"],
        "Cache-Control": ["$ref": "#/components/headers/NotStored"],
    ]

    /// The responses of a call by status; `own` are the codes that are particular to it.
    static func responses(own: [ProblemCode], hasToken: Bool) -> JSONObject {
        let general = byStatus(ofEveryCall + (hasToken ? ofTokens : []))
        let particular = byStatus(own)
        let statuses = Set(general.keys).union(particular.keys)
        return JSONObject(
            statuses.sorted().map { status in
                guard let codes = particular[status] else {
                    return (String(status), ["$ref": .string("#/components/responses/\(name(status))")])
                }
                return (String(status), .object(response(status, (general[status] ?? []) + codes)))
            })
    }

    /// The responses of problems that are no call's own, for `components/responses`.
    static var shared: JSONObject {
        JSONObject(
            byStatus(ofEveryCall + ofTokens).sorted { $0.key < $1.key }.map { status, codes in
                (name(status), .object(response(status, codes)))
            })
    }

    private static func name(_ status: Int) -> String { "Problem\(status)" }

    private static func byStatus(_ codes: [ProblemCode]) -> [Int: [ProblemCode]] {
        Dictionary(grouping: codes) { ProblemCatalog.entry(for: $0).status }
    }

    /// Every code as it is answered, for `components/examples`.
    static var examples: JSONObject {
        JSONObject(
            ProblemCode.allCases.map { code in
                let entry = ProblemCatalog.entry(for: code)
                return (
                    code.rawValue,
                    ["summary": .string(entry.title), "value": .object(Problem(code).body(requestID: exampleID))]
                )
            })
    }

    private static func response(_ status: Int, _ codes: [ProblemCode]) -> JSONObject {
        let titles = codes.map { "`\($0.rawValue)`: \(ProblemCatalog.entry(for: $0).title)." }
        var headers = headers
        if codes.contains(where: { ProblemCatalog.entry(for: $0).retryAfterSeconds != nil }) {
            headers.set("Retry-After", ["$ref": "#/components/headers/RetryAfter"])
        }
        if codes.contains(where: ofTokens.contains) {
            headers.set("WWW-Authenticate", ["$ref": "#/components/headers/Challenge"])
        }
        if status == 405 { headers.set("Allow", ["$ref": "#/components/headers/Allow"]) }
        let isExact: JSONValue = [
            "properties": [
                "status": ["const": .integer(Int64(status))],
                "code": ["enum": .array(codes.map { .string($0.rawValue) })],
            ]
        ]
        var content: JSONObject = [
            "application/problem+json": [
                "schema": ["allOf": [["$ref": "#/components/schemas/Problem"], isExact]],
                "examples": .object(
                    JSONObject(codes.map { ($0.rawValue, ["$ref": .string("#/components/examples/" + $0.rawValue)]) })),
            ]
        ]
        if statusesOfLibrary.contains(status) { content.set("text/html", [:]) }
        return [
            "description": .string(titles.joined(separator: " ")), "headers": .object(headers),
            "content": .object(content),
        ]
    }
}

import CMicroHTTPD

/// Turns an `HTTPResponse` into what libmicrohttpd sends, or into bytes where it cannot send.
enum ResponseComposer {
    /// Fields the server writes itself; a handler's own are ignored.
    private static let ownFields = ["content-length", "connection", "date", "transfer-encoding"]

    /// A response object that the caller must destroy, or nil if status or fields are invalid.
    static func make(_ response: HTTPResponse, closes: Bool) -> OpaquePointer? {
        guard (200...599).contains(response.status) else { return nil }
        let hasBody = response.status != 204 && response.status != 304
        var body = hasBody ? response.body : []
        let made = body.withUnsafeMutableBytes {
            MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
        }
        guard let made else { return nil }
        var fields = response.headers.filter { field in
            !ownFields.contains { ASCII.equalIgnoringCase($0, field.0) }
        }
        if closes { fields.append(("Connection", "close")) }
        return add(fields, to: made)
    }

    /// The answer 101, whose `upgrade` is called when it was sent; the caller must destroy it.
    static func makeUpgrade(
        _ response: HTTPResponse, _ upgrade: @escaping ServerCallbacks.Upgrade
    ) -> OpaquePointer? {
        guard response.status == 101, let made = MHD_create_response_for_upgrade(upgrade, nil) else { return nil }
        return add(response.headers, to: made)
    }

    private static func add(_ fields: [(String, String)], to made: OpaquePointer) -> OpaquePointer? {
        for (name, value) in fields {
            guard isValid(name, value), MHD_add_response_header(made, name, value) == .YES else {
                MHD_destroy_response(made)
                return nil
            }
        }
        return made
    }

    /// The whole answer as bytes, closing the connection; for answers sent past libmicrohttpd.
    static func bytes(_ response: HTTPResponse) -> [UInt8] {
        let status = (200...599).contains(response.status) ? response.status : 500
        let reason = MHD_get_reason_phrase_for(UInt32(status)).map { String(cString: $0) } ?? "Error"
        var text = "HTTP/1.1 \(status) \(reason)\r\nConnection: close\r\nContent-Length: \(response.body.count)\r\n"
        for (name, value) in response.headers where isValid(name, value) {
            guard !ownFields.contains(where: { ASCII.equalIgnoringCase($0, name) }) else { continue }
            text += "\(name): \(value)\r\n"
        }
        return Array((text + "\r\n").utf8) + response.body
    }

    /// Line breaks in a value would start a second answer (response splitting).
    private static func isValid(_ name: String, _ value: String) -> Bool {
        ASCII.isToken(name.utf8) && !value.isEmpty && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

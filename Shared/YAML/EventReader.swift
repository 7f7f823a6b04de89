import CYAML

/// libyaml's events as Swift values. Lives on one thread inside `withParser`.
final class EventReader {
    struct Event {
        enum Kind {
            case streamStart
            case streamEnd
            case documentStart(hasDirectives: Bool)
            case documentEnd
            case alias
            case scalar(text: String, isPlain: Bool)
            case sequenceStart
            case sequenceEnd
            case mappingStart
            case mappingEnd
        }

        let kind: Kind
        let position: YAMLPosition
        let hasAnchor: Bool
        let hasTag: Bool
    }

    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let file: String
    private let problems: YAMLProblems

    private init(_ parser: UnsafeMutablePointer<yaml_parser_t>, file: String, problems: YAMLProblems) {
        self.parser = parser
        self.file = file
        self.problems = problems
    }

    static func withParser<Result>(
        _ bytes: [UInt8], file: String, problems: YAMLProblems, _ body: (EventReader) -> Result?
    ) -> Result? {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { parser.deallocate() }
        parser.initialize(to: yaml_parser_t())
        guard yaml_parser_initialize(parser) == 1 else {
            problems.add("libyaml could not be set up", at: YAMLPosition(file: file, line: 1, column: 1))
            return nil
        }
        defer { yaml_parser_delete(parser) }
        // Without this libyaml would guess UTF-16 from a byte order mark.
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        return bytes.withUnsafeBufferPointer { buffer in
            yaml_parser_set_input_string(parser, buffer.baseAddress, buffer.count)
            return body(EventReader(parser, file: file, problems: problems))
        }
    }

    /// The next event, or nil after a syntax error, which is then among the problems.
    func next() -> Event? {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else {
            problems.add(syntaxError(), at: syntaxErrorPosition())
            return nil
        }
        defer { yaml_event_delete(&event) }
        let place = position(event.start_mark)
        switch event.type {
        case YAML_STREAM_START_EVENT: return simple(.streamStart, place)
        case YAML_STREAM_END_EVENT: return simple(.streamEnd, place)
        case YAML_DOCUMENT_START_EVENT:
            let start = event.data.document_start
            let hasDirectives =
                start.version_directive != nil || start.tag_directives.start != start.tag_directives.end
            return simple(.documentStart(hasDirectives: hasDirectives), place)
        case YAML_DOCUMENT_END_EVENT: return simple(.documentEnd, place)
        case YAML_ALIAS_EVENT: return simple(.alias, place)
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let text = String(
                decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.value == nil ? 0 : scalar.length),
                as: UTF8.self)
            let isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE
            return Event(
                kind: .scalar(text: text, isPlain: isPlain), position: place, hasAnchor: scalar.anchor != nil,
                hasTag: scalar.tag != nil)
        case YAML_SEQUENCE_START_EVENT:
            let start = event.data.sequence_start
            return Event(
                kind: .sequenceStart, position: place, hasAnchor: start.anchor != nil, hasTag: start.tag != nil)
        case YAML_SEQUENCE_END_EVENT: return simple(.sequenceEnd, place)
        case YAML_MAPPING_START_EVENT:
            let start = event.data.mapping_start
            return Event(
                kind: .mappingStart, position: place, hasAnchor: start.anchor != nil, hasTag: start.tag != nil)
        case YAML_MAPPING_END_EVENT: return simple(.mappingEnd, place)
        default: return nil
        }
    }

    private func simple(_ kind: Event.Kind, _ place: YAMLPosition) -> Event {
        Event(kind: kind, position: place, hasAnchor: false, hasTag: false)
    }

    private func position(_ mark: yaml_mark_t) -> YAMLPosition {
        YAMLPosition(file: file, line: mark.line + 1, column: mark.column + 1)
    }

    private func syntaxError() -> String {
        guard let problem = parser.pointee.problem else { return "this is no YAML" }
        let text = String(cString: problem)
        guard let context = parser.pointee.context else { return text }
        return "\(text) (\(String(cString: context)))"
    }

    private func syntaxErrorPosition() -> YAMLPosition {
        // Errors of the byte reader come without a mark; the parser's own position is the best there is.
        let isReaderError = parser.pointee.error == YAML_READER_ERROR
        return position(isReaderError ? parser.pointee.mark : parser.pointee.problem_mark)
    }
}

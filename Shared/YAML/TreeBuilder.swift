/// Builds the tree out of events; recursion is bounded by the depth limit.
struct TreeBuilder {
    let reader: EventReader
    let problems: YAMLProblems
    let maximumDepth: Int

    /// The root of the only document, nil if reading stopped.
    mutating func document() -> YAMLNode? {
        guard case .streamStart? = reader.next()?.kind, let start = reader.next() else { return nil }
        guard case .documentStart(let hasDirectives) = start.kind else {
            problems.add("the file is empty", at: start.position)
            return nil
        }
        if hasDirectives { problems.add("directives (%YAML, %TAG) are not allowed", at: start.position) }
        guard let first = reader.next(), let root = node(first, depth: 0) else { return nil }
        guard case .documentEnd? = reader.next()?.kind, let end = reader.next() else { return nil }
        guard case .streamEnd = end.kind else {
            problems.add("only one document a file is allowed", at: end.position)
            return nil
        }
        return root
    }

    private mutating func node(_ event: EventReader.Event, depth: Int) -> YAMLNode? {
        if event.hasAnchor { problems.add("anchors (&name) are not allowed", at: event.position) }
        if event.hasTag { problems.add("tags (!name) are not allowed", at: event.position) }
        switch event.kind {
        case .scalar(let text, let isPlain):
            return YAMLNode(content: .scalar(text, isPlain: isPlain), position: event.position)
        case .alias:
            problems.add("aliases (*name) are not allowed", at: event.position)
            return YAMLNode(content: .scalar("", isPlain: true), position: event.position)
        case .sequenceStart:
            return sequence(at: event.position, depth: depth + 1)
        case .mappingStart:
            return mapping(at: event.position, depth: depth + 1)
        default:
            problems.add("a value is missing", at: event.position)
            return nil
        }
    }

    private mutating func sequence(at position: YAMLPosition, depth: Int) -> YAMLNode? {
        guard isWithinDepth(depth, position) else { return nil }
        var items: [YAMLNode] = []
        while let event = reader.next() {
            if case .sequenceEnd = event.kind { return YAMLNode(content: .sequence(items), position: position) }
            guard let item = node(event, depth: depth) else { return nil }
            items.append(item)
        }
        return nil
    }

    private mutating func mapping(at position: YAMLPosition, depth: Int) -> YAMLNode? {
        guard isWithinDepth(depth, position) else { return nil }
        var entries: [YAMLNode.Entry] = []
        var keys: [String: YAMLPosition] = [:]
        while let event = reader.next() {
            if case .mappingEnd = event.kind { return YAMLNode(content: .mapping(entries), position: position) }
            guard let keyNode = node(event, depth: depth), let valueStart = reader.next(),
                let value = node(valueStart, depth: depth)
            else { return nil }
            guard case .scalar(let key, let isPlain) = keyNode.content else {
                problems.add("a key must be a plain text", at: event.position)
                continue
            }
            if key == "<<" && isPlain {
                problems.add("merge keys (<<) are not allowed", at: event.position)
                continue
            }
            if let earlier = keys[key] {
                problems.add("the key \(key) was already given in line \(earlier.line)", at: event.position)
                continue
            }
            keys[key] = event.position
            entries.append(YAMLNode.Entry(key: key, position: event.position, value: value))
        }
        return nil
    }

    private func isWithinDepth(_ depth: Int, _ position: YAMLPosition) -> Bool {
        if depth <= maximumDepth { return true }
        problems.add("nested deeper than \(maximumDepth) levels", at: position)
        return false
    }
}

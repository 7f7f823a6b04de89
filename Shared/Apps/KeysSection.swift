import YAML

/// Reads the `keys` of an app's login or service tokens.
struct KeysSection {
    let problems: YAMLProblems
    /// The folder of the app's file, with a slash at its end.
    let folder: String

    /// The keys, and the files with sets of them; nil if there is nothing usable.
    func read(_ section: YAMLMapping) -> (keys: [TokenSettings.Key], sets: [TokenSettings.KeySet])? {
        var keys: [TokenSettings.Key] = []
        var sets: [TokenSettings.KeySet] = []
        for node in section.items("keys") {
            guard let entry = YAMLMapping(node, problems) else { continue }
            if let file = entry.optionalText("jwksFile", NameRule.path.text, NameRule.path.isValid) {
                entry.finish()
                sets.append(TokenSettings.KeySet(file: resolved(file.text), place: place(file)))
                continue
            }
            guard let key = key(entry) else { continue }
            if keys.contains(where: { $0.id == key.id }) {
                problems.add("keys: two keys have the id \(key.id)", at: node.position)
            }
            keys.append(key)
        }
        return keys.isEmpty && sets.isEmpty ? nil : (keys, sets)
    }

    /// Secrets, each with an id; at least one.
    func readSecrets(_ section: YAMLMapping) -> [TokenSettings.Key] {
        var keys: [TokenSettings.Key] = []
        for node in section.items("keys") {
            guard let entry = YAMLMapping(node, problems) else { continue }
            let id = entry.text("id", NameRule.keyID.text, NameRule.keyID.isValid)
            let file = entry.text("secretFile", NameRule.path.text, NameRule.path.isValid)
            entry.finish()
            guard let id, let file else { continue }
            if keys.contains(where: { $0.id == id.text }) {
                problems.add("keys: two keys have the id \(id.text)", at: node.position)
            }
            keys.append(
                TokenSettings.Key(id: id.text, algorithm: .hs256, file: resolved(file.text), place: place(file)))
        }
        section.finish()
        return keys
    }

    private func key(_ section: YAMLMapping) -> TokenSettings.Key? {
        let id = section.text("id", NameRule.keyID.text, NameRule.keyID.isValid)
        let algorithm = section.choice("algorithm", TokenSettings.Key.Algorithm.allCases.map { ($0.rawValue, $0) })
        let secret = section.optionalText("secretFile", NameRule.path.text, NameRule.path.isValid)
        let publicKey = section.optionalText("publicKeyFile", NameRule.path.text, NameRule.path.isValid)
        section.finish()
        guard let algorithm else { return nil }
        let isSecret = algorithm == .hs256
        let wantedName = isSecret ? "secretFile" : "publicKeyFile"
        let otherName = isSecret ? "publicKeyFile" : "secretFile"
        if let other = isSecret ? publicKey : secret {
            problems.add("\(algorithm.rawValue) takes a \(wantedName), no \(otherName)", at: other.position)
        }
        guard let wanted = isSecret ? secret : publicKey else {
            problems.add("\(algorithm.rawValue) needs a \(wantedName)", at: section.position)
            return nil
        }
        guard let id else { return nil }
        return TokenSettings.Key(id: id.text, algorithm: algorithm, file: resolved(wanted.text), place: place(wanted))
    }

    private func resolved(_ path: String) -> String { path.hasPrefix("/") ? path : folder + path }

    private func place(_ text: YAMLMapping.Text) -> TokenSettings.Key.Place {
        TokenSettings.Key.Place(file: text.position.file, line: text.position.line, column: text.position.column)
    }
}

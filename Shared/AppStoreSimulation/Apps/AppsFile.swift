import JSON

/// The apps a deployment has, as the simulator is told at its start.
public enum AppsFile {
    /// Why it cannot be used.
    public struct Failure: Error, CustomStringConvertible {
        /// One sentence.
        public let description: String
    }

    /// Reads a JSON array of apps.
    public static func read(_ path: String) throws -> [SimulatedApp] {
        let text: String
        do {
            text = try TextFile.read(path)
        } catch {
            throw Failure(description: "\(path) cannot be read")
        }
        guard let value = try? JSONReader.parse(Array(text.utf8)), let entries = value.arrayValue else {
            throw Failure(description: "\(path) holds no JSON array")
        }
        return try entries.map { entry in
            guard let object = entry.objectValue else { throw Failure(description: "\(path) holds something else") }
            do throws(StoreError) {
                return try SimulatedApp(object)
            } catch {
                throw Failure(description: "\(path): \(error)")
            }
        }
    }
}

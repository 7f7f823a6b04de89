extension Migration {
    /// The migrations embedded in an executable. A file that is none is a mistake of the build, found by the first run
    /// of any subcommand: the process ends with its name.
    public static func embedded(_ files: [(name: String, bytes: [UInt8])]) -> [Migration] {
        files.map { file in
            do {
                return try Migration(file: file.name, bytes: file.bytes)
            } catch {
                preconditionFailure("embedded migration: \(error)")
            }
        }
    }
}
